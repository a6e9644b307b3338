/* exact: refuse=cannot.tell.which.kind.of.branch
 * A return to an address that is none, where a jump that was executed might have been what led there. */
	.globl _start
_start:	lea	1f(%rip), %rax
	jmp	*%rax
1:	movabs	$0x1122334455667788, %rax
	push	%rax
	ret
