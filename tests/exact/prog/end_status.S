/* exit_group with a status above 255. */
	.globl _start
_start:	mov	$231, %eax
	mov	$0x1234, %edi
	syscall
