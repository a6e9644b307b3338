// SPDX-License-Identifier: MIT
// Three functions deep, with frame pointers: outer calls middle calls inner, whose loop takes nearly all of
// 2 * ROUNDS + 21 instructions. Every frame is complete before the first turn.
	.text
	.global _start, outer, middle, inner
	.type outer, %function
	.type middle, %function
	.type inner, %function

_start:	mov	x29, #0
	mov	x30, #0
	bl	outer
	mov	x8, #93
	mov	x0, #0
	svc	#0
outer:	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	bl	middle
	ldp	x29, x30, [sp], #16
	ret
	.size outer, . - outer
middle:	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	bl	inner
	ldp	x29, x30, [sp], #16
	ret
	.size middle, . - middle
inner:	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	ldr	x0, =ROUNDS
1:	subs	x0, x0, #1
	b.ne	1b
	ldp	x29, x30, [sp], #16
	ret
	.size inner, . - inner
