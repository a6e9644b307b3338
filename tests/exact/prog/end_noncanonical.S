/* Death by a return to an address that is none: the return does not retire. */
	.globl _start
_start:	movabs	$0x1122334455667788, %rax
	push	%rax
	ret
