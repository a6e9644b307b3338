/* push and pop in every form, those that name rsp itself, 16-bit ones, and moves through the stack. */
#include "run.inc"
	begin
	mov	%rsp, %r14
	push	%rsp
	pop	%rax
	sub	%r14, %rax
	keep	%rax
	push	$0x11
	push	$-5
	push	$0x12345678
	push	8(%rsp)
	pop	16(%rsp)
	pop	%rax
	pop	%rbx
	pop	%rcx
	keep	%rax, %rbx, %rcx
	push	%rsp
	push	(%rsp)
	pop	%rax
	pop	%rbx
	sub	%r14, %rax
	sub	%r14, %rbx
	keep	%rax, %rbx
	lea	stack(%rip), %rbx
	push	%rbx
	pop	%rsp
	mov	%rsp, %rax
	sub	%rbx, %rax
	keep	%rax
	mov	%r14, %rsp
	pushw	$0x1234
	pushw	%ax
	pop	%bx
	popw	%cx
	movzwl	%cx, %ecx
	keep	%rcx
	push	$7
	mov	%rsp, (%rsp)
	pop	%rax
	sub	%r14, %rax
	keep	%rax
	push	$3
	addq	$5, (%rsp)
	xchg	%rax, (%rsp)
	keep	%rax
	pop	%rax
	sub	$64, %rsp
	.irp n, 0, 8, 16, 24
	movq	$\n, \n(%rsp)
	.endr
	mov	$3, %ecx
	pop	(%rsp, %rcx, 8)		/* the address is taken after the pop */
	push	8(%rsp)
	mov	8(%rsp), %rax
	mov	24(%rsp), %rbx
	keep	%rax, %rbx
	mov	%r14, %rsp
	.irp r, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13
	push	%\r
	.endr
	.irp r, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13
	pop	%\r
	.endr
	push	%fs
	pop	%rax
	push	%gs
	pop	%rbx
	keep	%rax, %rbx
	mov	%rsp, %rax
	sub	%r14, %rax
	keep	%rax
	push	m(%rip)
	push	%rbp
	mov	%rsp, %rbp
	push	$9
	leave
	pop	m+8(%rip)
	mov	m+8(%rip), %rax
	keep	%rax
	and	$-64, %rsp
	mov	%r14, %rsp
	finish
	.data
m:	.quad	0x1234567890, 0
	.bss
	.balign	64
	.skip	256
stack:	.skip	256
