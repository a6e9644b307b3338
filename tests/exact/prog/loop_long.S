/* exact: count=3000004
 * A million turns of three instructions, by construction. */
	.globl _start
_start:	mov	$1000000, %ecx
1:	add	$3, %rax
	dec	%ecx
	jnz	1b
	mov	$60, %eax
	xor	%edi, %edi
	syscall
