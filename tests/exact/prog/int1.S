/* exact: refuse=an.int1.instruction
 * int1, behind an instruction that is copied. */
	.globl _start
_start:	mov	$60, %eax
	xor	%edi, %edi
	.byte	0xf1
	syscall
