/* exact: compare=output reason=the_engine_does_not_know_which_branch_led_there
 * Death by a return to an address that is none. */
	.globl _start
_start:	movabs	$0x1122334455667788, %rax
	push	%rax
	ret
