/* SPDX-License-Identifier: MIT */
/*
 * mark.h for arm64. Saves the registers it needs on the stack; no instruction here sets flags. If
 * counters are read by a system call, the kernel may clear the SVE part of the vector registers, as
 * at every system call. Source: kernel documentation, "Scalable Vector Extension support for
 * AArch64 Linux", System call behaviour.
 */
#include "arch/mark.h"

#ifdef __ARM_FEATURE_BTI_DEFAULT
#define LAND bti c
#else
#define LAND
#endif
#define FUNCTION(x) .hidden mark_##x; .globl mark_##x; .type mark_##x, %function; .balign 64; mark_##x: LAND
#define END(x) .size mark_##x, . - mark_##x

	.hidden	mark_state
	.text

/* x1: the state, x2: the entry. */
.macro enter
	stp	x0, x1, [sp, #-32]!
	stp	x2, x30, [sp, #16]
	adrp	x1, mark_state
	add	x1, x1, :lo12:mark_state
	ldr	x2, [x1, #MARK_CURSOR]
.endm

.macro leave_by bytes
	add	x2, x2, #\bytes
	str	x2, [x1, #MARK_CURSOR]
	ldp	x2, x30, [sp, #16]
	ldp	x0, x1, [sp], #32
	ret
.endm

.macro is kind
	mov	w0, #\kind
	str	w0, [x2]
.endm

/* Each handle is a routine that returns in x0 and changes no other register (pmc.c). */
.macro counters n
	.set	i, 0
	.rept	\n
	ldr	x0, [x1, #MARK_HANDLE+8*i]
	blr	x0
	str	x0, [x2, #8+8*i]
	.set	i, i + 1
	.endr
.endm

/* isb: as lfence in x86/mark.S. Source: as tare_pmc_fence(). */
.macro registers n
FUNCTION(start_\n)
	enter
	is	MARK_START
	isb
	counters \n
	isb
	leave_by 8+8*\n
END(start_\n)
FUNCTION(stop_\n)
	enter
	isb
	counters \n
	leave_by 8+8*\n
END(stop_\n)
.endm

	registers 1
	registers 2
	registers 3
	registers 4
	registers 5
	registers 6
	registers 7
	registers 8

FUNCTION(start_clock)
	enter
	is	MARK_START
	isb
	mrs	x0, cntvct_el0
	isb
	str	x0, [x2, #8]
	leave_by 16
END(start_clock)

FUNCTION(stop_clock)
	enter
	isb
	mrs	x0, cntvct_el0
	str	x0, [x2, #8]
	leave_by 16
END(stop_clock)

/* The kernel returns in x0 and preserves the other registers. */
.macro ask kind
	stp	x0, x1, [sp, #-32]!
	stp	x2, x8, [sp, #16]
	adrp	x2, mark_state
	add	x2, x2, :lo12:mark_state
	ldr	x1, [x2, #MARK_CURSOR]
	mov	w0, #\kind
	str	w0, [x1], #8
	ldr	x8, [x2, #MARK_CALL]
	ldr	x0, [x2, #MARK_CALL + 8]
	ldr	x2, [x2, #MARK_CALL + 16]
	svc	#0
	str	w0, [x1, #-4]
	adrp	x2, mark_state
	add	x2, x2, :lo12:mark_state
	ldr	x0, [x2, #MARK_STRIDE]
	add	x1, x1, x0
	sub	x1, x1, #8
	str	x1, [x2, #MARK_CURSOR]
	ldp	x2, x8, [sp, #16]
	ldp	x0, x1, [sp], #32
	ret
.endm

FUNCTION(start_call)
	ask MARK_START
END(start_call)

FUNCTION(stop_call)
	ask MARK_STOP
END(stop_call)

/* Between the marks: only the call of stop. */
FUNCTION(pairs)
	stp	x29, x30, [sp, #-48]!
	stp	x19, x20, [sp, #16]
	str	x21, [sp, #32]
	mov	w19, w0
	mov	x20, x1
	mov	x21, x2
1:	blr	x20
	blr	x21
	sub	w19, w19, #1
	cbnz	w19, 1b
	ldr	x21, [sp, #32]
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #48
	ret
END(pairs)

FUNCTION(around)
	stp	x29, x30, [sp, #-32]!
	stp	x19, x20, [sp, #16]
	mov	x19, x1
	mov	x20, x2
	blr	x0
	blr	x19
	blr	x20
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #32
	ret
END(around)

	.section .note.GNU-stack, "", %progbits
