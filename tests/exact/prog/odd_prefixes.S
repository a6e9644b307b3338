/*
 * Prefixes that mean nothing where they stand, or do in one order only: REX before another prefix or another REX, repeat prefixes
 * and segments at branches, several segments, the address size at branches and string instructions.
 */
#include "run.inc"
	begin
	flags	0x2
	mov	$3, %ecx
	/* jecxz with 67 */
	mov	$0x100000000, %rcx
	addr32 jrcxz	1f
	inc	%edx
1:	jrcxz	2f
	inc	%edx
2:	mov	$0x100000002, %rcx
3:	inc	%ebx
	.byte	0x67, 0xe2, 0xfb		/* loop with ecx */
	keep	%rbx, %rcx, %rdx
	mov	$5, %ecx
	xor	%ebx, %ebx
4:	inc	%ebx
	cmp	$3, %ebx
	loopne	4b
	keep	%rbx, %rcx
	mov	$5, %ecx
5:	cmp	%ebx, %ebx
	loope	5b
	keep	%rcx
	/* REX before legacy prefix: ignored */
	mov	$-1, %rax
	.byte	0x48, 0x66, 0xb8, 0x34, 0x12	/* mov ax, 0x1234 : REX.W ignored */
	keep	%rax
	.byte	0x4f, 0x2e, 0x31, 0xc0 /* xor eax,eax */
	keep	%rax
	.byte	0x41, 0x48, 0xff, 0xc0 /* two REX: last counts: inc rax */
	keep	%rax
	.byte	0x48, 0x41, 0xff, 0xc0 /* inc r8d */
	keep	%rax, %r8
	/* bnd jmp/call/ret, notrack jmp, rep ret, branch hints */
	.byte	0xf2, 0xe9, 0, 0, 0, 0
	.byte	0xf2, 0xe8, 1, 0, 0, 0
	.byte	0x90
	pop	%rax
	call	9f
	call	10f
	call	11f
	lea	6f(%rip), %rax
	.byte	0x3e, 0xff, 0xe0
	ud2
6:	nop
	nop
	jmp	7f
9:	.byte	0xf3, 0xc3
10:	.byte	0xf2, 0xc3
11:	.byte	0x48, 0xc3
7:	cmp	%eax, %eax
	.byte	0x2e, 0x75, 0x00
	.byte	0x3e, 0x74, 0x00
	.byte	0x48, 0x74, 0x00   /* REX jz */
	.byte	0x48, 0xe9, 0,0,0,0
	.byte	0x48, 0xeb, 0
	.byte	0xf3, 0x74, 0x00
	.byte	0x64, 0x74, 0x00
	.byte	0x65, 0x74, 0x00 /* gs jz */
	.byte	0x65, 0x90
	.byte	0x65, 0x48, 0x01, 0xd8  /* gs add rax, rbx: registers */
	.byte	0x65, 0xeb, 0x00
	.byte	0x65, 0xe8, 0,0,0,0
	pop	%rax
	.byte	0x67, 0xe8, 0,0,0,0
	pop	%rax
	.byte	0x67, 0xeb, 0x00
	.byte	0x67, 0x74, 0x00
	finish
