/* SPDX-License-Identifier: MIT */
/* stack_call(): see arch/stack.h. %rbp, which calls preserve, holds the caller's stack pointer. */
	.text
	.globl	stack_call
	.hidden	stack_call
	.type	stack_call, @function
stack_call:
	.cfi_startproc
	endbr64
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	movq	%rdi, %rsp
	movq	%rdx, %rdi
	callq	*%rsi
	movq	%rbp, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	stack_call, . - stack_call
	.section .note.GNU-stack, "", @progbits
