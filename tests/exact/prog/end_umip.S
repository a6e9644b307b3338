/* What the kernel executes for the processor (UMIP) may fault, too: it has not retired either way. */
#include "run.inc"
	begin
	sidt	table(%rip)
	xor	%edi, %edi
	sidt	(%rdi)
	finish
	.data
table:	.skip	16
