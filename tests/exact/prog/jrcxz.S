/* jrcxz and jecxz around their edges; both leave the flags alone. */
#include "run.inc"
	.macro	try value, f
	movabs	$\value, %rcx
	xor	%eax, %eax
	flags	\f
	jrcxz	1f
	lea	1(%rax), %rax
1:	jecxz	2f
	lea	2(%rax), %rax
2:	keepf
	keep	%rax, %rcx
	.endm
	begin
	.irp f, 2, 0xcd7
	try	0, \f
	try	1, \f
	try	-1, \f
	try	0x100000000, \f
	try	0xffffffff, \f
	try	0x8000000000000000, \f
	.endr
	finish
