/* loop, loope, loopne with rcx and ecx, every outcome; none of them touches a flag. */
#include "run.inc"
	.macro	try insn, prefix=, count, f
	movabs	$\count, %rcx
	mov	$0, %eax
	flags	\f
1:	lea	1(%rax), %rax
	.ifnc	\prefix,
	.byte	\prefix
	.endif
	\insn	1b
	keepf
	keep	%rax, %rcx
	.endm
	begin
	.irp f, 0x2, 0x46, 0xcd7
	.irp i, loop, loope, loopne
	try	\i, , 1, \f
	try	\i, , 2, \f
	try	\i, , 30, \f
	try	\i, 0x67, 1, \f
	try	\i, 0x67, 0x500000003, \f
	.endr
	.endr
	/* the condition changes while it runs */
	mov	$20, %ecx
	mov	$5, %edx
1:	dec	%edx
	loopne	1b
	keepf
	keep	%rcx, %rdx
	mov	$20, %ecx
	lea	text(%rip), %rsi
2:	lodsb
	cmp	$'a', %al
	loope	2b
	keepf
	keep	%rcx, %rax
	finish
	.data
text:	.ascii	"aaaaaaab"
