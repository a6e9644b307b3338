/* SPDX-License-Identifier: MIT */
/*
 * The kernels of arch/kernels.h: x0 turns, x1 memory. Their sizes are in kernels.c next to this
 * file.
 */

	.macro begin name
	.globl	kernel_\name
	.hidden	kernel_\name
	.type	kernel_\name, %function
	.balign	64
kernel_\name:
	.endm

/* subs, b.ne, ret: the end of each. */
	.macro end name, to
	subs	x0, x0, #1
	b.ne	\to
	ret
	.size	kernel_\name, . - kernel_\name
	.endm

	.text

begin loop
1:
end loop, 1b

begin straight
1:
	.rept 16
	add	x2, x2, #1
	eor	x3, x3, x2
	add	x4, x4, x3
	mov	x5, x4
	.endr
end straight, 1b

begin taken
1:	cmp	x0, x0
	.rept 8
	b.eq	2f
	nop
2:
	.endr
end taken, 1b

begin not_taken
1:	cmp	x0, x0
	.rept 8
	b.ne	2f
	.endr
	nop
2:
end not_taken, 1b

/*
 * A random bit selects one of the two branches; one of them is taken, and both lead to the next
 * turn.
 */
begin random
	movz	x3, #0x7f2d
	movk	x3, #0x4c95, lsl #16
	movk	x3, #0xf42d, lsl #32
	movk	x3, #0x5851, lsl #48
	mov	x2, sp
1:	madd	x2, x2, x3, x3
	tbnz	x2, #60, 2f
2:	tbz	x2, #60, 3f
3:
end random, 1b

begin calls
	mov	x9, x30
1:	bl	2f
	bl	2f
	subs	x0, x0, #1
	b.ne	1b
	mov	x30, x9
	ret
2:	ret
	.size	kernel_calls, . - kernel_calls

/* A return without a matching call. */
begin returns
1:	adr	x2, 2f
	ret	x2
	nop
2:
end returns, 1b

begin jumps
1:	b	2f
	nop
2:	b	3f
	nop
3:
end jumps, 1b

begin indirect
1:	adr	x2, 2f
	br	x2
	nop
2:	adr	x2, 3f
	br	x2
	nop
3:
end indirect, 1b

begin loads
1:
	.irp at, 0, 8, 16, 24, 64, 72, 128, 192
	ldr	x2, [x1, #\at]
	.endr
end loads, 1b

begin stores
1:
	.irp at, 0, 8, 16, 24, 64, 72, 128, 192
	str	x2, [x1, #\at]
	.endr
end stores, 1b

/* Another page and another line each time, through the whole memory. */
begin far
	mov	x2, #0
	mov	x4, #4160
1:	ldr	x3, [x1, x2]
	add	x2, x2, x4
	and	x2, x2, #((8 << 20) - 64)
end far, 1b

	.arch_extension lse
begin atomics
1:
	.rept 4
	ldadd	x0, x2, [x1]
	.endr
end atomics, 1b

begin syscalls
	mov	x9, x0
1:	mov	x8, #173 /* getppid */
	svc	#0
	subs	x9, x9, #1
	b.ne	1b
	ret
	.size	kernel_syscalls, . - kernel_syscalls

begin scalar
	movi	d0, #0
	movi	d1, #0
1:
	.rept 4
	fadd	d0, d0, d1
	fmul	d0, d0, d1
	.endr
end scalar, 1b

begin packed
	movi	v0.2d, #0
	movi	v1.2d, #0
1:
	.rept 4
	fadd	v0.2d, v0.2d, v1.2d
	fmul	v0.2d, v0.2d, v1.2d
	.endr
end packed, 1b

begin vector
	movi	v0.2d, #0
	movi	v1.2d, #0
1:
	.rept 8
	add	v0.4s, v0.4s, v1.4s
	.endr
end vector, 1b

begin divides
	mov	w3, #7
	mov	w2, #0x4240
1:	udiv	w4, w2, w3
	udiv	w4, w4, w3
end divides, 1b

	.section .note.GNU-stack, "", %progbits
