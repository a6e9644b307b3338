/* exact: refuse=a.sysenter.or.sysret.instruction
 * sysenter in 64-bit code. */
	.globl _start
_start:	mov	$1, %eax
	xor	%ebx, %ebx
	sysenter
	mov	$60, %eax
	xor	%edi, %edi
	syscall
