/* SPDX-License-Identifier: MIT */
/* stack_call(): see arch/stack.h. x29, which calls preserve, holds the caller's stack pointer. */
	.text
	.globl	stack_call
	.hidden	stack_call
	.type	stack_call, %function
stack_call:
	.cfi_startproc
	hint	#34	/* bti c */
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, sp
	.cfi_def_cfa_register x29
	mov	sp, x0
	mov	x0, x2
	blr	x1
	mov	sp, x29
	.cfi_def_cfa_register sp
	ldp	x29, x30, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore x30
	.cfi_restore x29
	ret
	.cfi_endproc
	.size	stack_call, . - stack_call
	.section .note.GNU-stack, "", %progbits
