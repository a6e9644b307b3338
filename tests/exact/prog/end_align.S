/* Ends by SIGBUS, for what it reads is misaligned and it has asked for that to be checked. */
#include "run.inc"
	begin
	pushfq
	orl	$0x40000, (%rsp)
	popfq
	add	%eax, %ebx
	incl	data+1(%rip)
	nop
	finish
	.data
	.balign	8
data:	.quad	0
