/* pushf and popf in 16 and 64 bits: what they keep, and that nobody's trap flag shows in them. */
#include "run.inc"
	begin
	.irp f, 0x2, 0xcd7, 0x40, 0x200ad5, 0x1, 0x800
	push	$\f
	popfq
	pushfq
	pop	%rax
	keepf
	and	$0x200dd5, %eax		/* ID and TF too */
	and	$~0x100, %eax		/* the judge steps by TF: hide it, in the register only */
	keep	%rax
	pushw	$\f & 0xcff
	popfw
	pushfw
	pop	%ax
	movzwl	%ax, %eax
	and	$0xcd5, %eax
	keep	%rax
	.endr
	/* flags of one block read in the next by pushf, through a subroutine */
	mov	$5, %eax
	cmp	$9, %eax
	call	1f
	keep	%rax
	std
	jmp	2f
2:	pushfq
	pop	%rax
	and	$0x400, %eax
	keep	%rax
	cld
	/* AC on, then off, no unaligned access between */
	pushfq
	orq	$0x40000, (%rsp)
	popfq
	jmp	3f
3:	pushfq
	pop	%rax
	and	$0x40000, %eax
	keep	%rax
	pushfq
	andq	$~0x40000, (%rsp)
	popfq
	finish
1:	pushfq
	pop	%rax
	and	$0xcd5, %eax
	ret
