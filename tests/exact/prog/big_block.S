/* exact: count=19014
 * 5,000 instructions with no branch, then 2,000 blocks of one, then 4,000 pairs of blocks. By
 * construction: 1 + 5000 + 2 + 2000 + 3 * 4000 + 2 + 9. */
#include "run.inc"
	begin
	.rept	5000
	lea	1(%rax), %rax
	.endr
	keep	%rax
	.rept	2000
	jmp	1f
1:
	.endr
	.rept	4000
	test	%rax, %rax
	jz	1f
	inc	%ebx
1:
	.endr
	keep	%rbx
	finish
