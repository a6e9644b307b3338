/* Flags that are live across every way a block can end. */
#include "run.inc"
	.macro	across f
	flags	\f
	jmp	1f
	nop
1:	keepf
	flags	\f
	.byte	0xe9, 1, 0, 0, 0, 0x90
	keepf
	lea	1f(%rip), %rax
	flags	\f
	jmp	*%rax
	nop
1:	keepf
	lea	1f(%rip), %rax
	mov	%rax, slot(%rip)
	flags	\f
	jmp	*slot(%rip)
	nop
1:	keepf
	flags	\f
	jo	1f
1:	jc	1f
1:	jz	1f
1:	jns	1f
1:	keepf
	flags	\f
	call	sub
	keepf
	lea	sub(%rip), %rax
	flags	\f
	call	*%rax
	keepf
	mov	%rax, slot(%rip)
	flags	\f
	call	*slot(%rip)
	keepf
	push	$1
	push	$2
	flags	\f
	call	subimm
	keepf
	lea	1f(%rip), %rax
	push	%rax
	flags	\f
	ret
	nop
1:	keepf
	mov	$3, %ecx
	flags	\f
1:	loop	1b
	keepf
	xor	%ecx, %ecx
	flags	\f
	jrcxz	1f
	nop
1:	keepf
	mov	$39, %eax
	flags	\f
	syscall
	keepf
	mov	$5, %ecx
	lea	slot(%rip), %rsi
	mov	%rsi, %rdi
	flags	\f
	rep lodsb
	keepf
	flags	\f & ~0x400
	mov	$1, %ecx
	rep stosb
	keepf
	cld
	.endm
	begin
	across	2
	across	0xcd7
	across	0x897
	across	0x442
	across	0x13
	finish
sub:	keepf
	ret
subimm:	keepf
	ret	$16
	.data
	.skip	64
slot:	.quad	0
	.skip	64
