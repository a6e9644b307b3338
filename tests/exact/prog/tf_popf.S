/* exact: refuse=the.trap.flag.to.step.itself,.*,.at.0x[0-9a-f]+$
 * popf sets the trap flag: SIGTRAP behind the next instruction, natively. */
#include "run.inc"
	begin
	pushfq
	orq	$0x100, (%rsp)
	popfq
	nop
	nop
	pushfq
	andq	$~0x100, (%rsp)
	popfq
	mov	$231, %eax
	xor	%edi, %edi
	syscall
