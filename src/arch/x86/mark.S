/* SPDX-License-Identifier: MIT */
/*
 * mark.h for x86-64. Uses only mov, lea and the read instructions, which do not change flags; so a
 * count is stored as two halves. MARK_READ may be defined as another instruction that returns in
 * edx:eax, for tests on machines without counters; the names then start with MARK_NAME.
 */
#include "arch/mark.h"

#ifndef MARK_READ
#define MARK_READ rdpmc
#define MARK_NAME(x) mark_##x
#endif
#define FUNCTION(x) .hidden MARK_NAME(x); .globl MARK_NAME(x); .type MARK_NAME(x), @function; .balign 64; MARK_NAME(x):
#define END(x) .size MARK_NAME(x), . - MARK_NAME(x)
#define AT(offset) mark_state+(offset)(%rip)

	.hidden	mark_state
	.text

.macro enter
	mov	%rax, AT(MARK_SAVED)
	mov	%rcx, AT(MARK_SAVED + 8)
	mov	%rdx, AT(MARK_SAVED + 16)
	mov	%rbx, AT(MARK_SAVED + 24)
	mov	AT(MARK_CURSOR), %rbx
.endm

.macro leave_by bytes
	lea	\bytes(%rbx), %rbx
	mov	%rbx, AT(MARK_CURSOR)
	mov	AT(MARK_SAVED + 24), %rbx
	mov	AT(MARK_SAVED + 16), %rdx
	mov	AT(MARK_SAVED + 8), %rcx
	mov	AT(MARK_SAVED), %rax
	ret
.endm

.macro counters n
	.set	i, 0
	.rept	\n
	mov	mark_state+MARK_HANDLE+8*i(%rip), %ecx
	MARK_READ
	mov	%eax, 8+8*i(%rbx)
	mov	%edx, 12+8*i(%rbx)
	.set	i, i + 1
	.endr
.endm

/*
 * lfence: at the first read of a start all earlier instructions are complete, and at the first read
 * of a stop the measured code is; and the measured code does not start before the last read of a
 * start. Source: as tare_pmc_fence().
 */
#define REGISTERS(n)				\
FUNCTION(start_##n)				\
	enter;					\
	movl	$MARK_START, (%rbx);		\
	lfence;					\
	counters n;				\
	lfence;					\
	leave_by 8+8*n;				\
END(start_##n);					\
FUNCTION(stop_##n)				\
	enter;					\
	lfence;					\
	counters n;				\
	leave_by 8+8*n;				\
END(stop_##n)

REGISTERS(1)
REGISTERS(2)
REGISTERS(3)
REGISTERS(4)
REGISTERS(5)
REGISTERS(6)
REGISTERS(7)
REGISTERS(8)

#ifndef MARK_ONLY_REGISTERS
FUNCTION(start_clock)
	enter
	movl	$MARK_START, (%rbx)
	lfence
	rdtsc
	mov	%eax, 8(%rbx)
	mov	%edx, 12(%rbx)
	lfence
	leave_by 16
END(start_clock)

FUNCTION(stop_clock)
	enter
	lfence
	rdtsc
	mov	%eax, 8(%rbx)
	mov	%edx, 12(%rbx)
	leave_by 16
END(stop_clock)

/* The kernel preserves all registers but rax, rcx and r11; the flags are restored from r11. */
.macro ask kind
	mov	%rax, AT(MARK_SAVED)
	mov	%rcx, AT(MARK_SAVED + 8)
	mov	%rdx, AT(MARK_SAVED + 16)
	mov	%rsi, AT(MARK_SAVED + 24)
	mov	%rdi, AT(MARK_SAVED + 32)
	mov	%r11, AT(MARK_SAVED + 40)
	mov	AT(MARK_CALL), %rax
	mov	AT(MARK_CALL + 8), %rdi
	mov	AT(MARK_CURSOR), %rsi
	movl	$\kind, (%rsi)
	lea	8(%rsi), %rsi
	mov	AT(MARK_CALL + 16), %rdx
	syscall
	mov	%eax, -4(%rsi)
	mov	AT(MARK_STRIDE), %rax
	lea	-8(%rsi,%rax), %rsi
	mov	%rsi, AT(MARK_CURSOR)
	mov	AT(MARK_SAVED + 40), %r11
	mov	AT(MARK_SAVED + 32), %rdi
	mov	AT(MARK_SAVED + 24), %rsi
	mov	AT(MARK_SAVED + 16), %rdx
	mov	AT(MARK_SAVED + 8), %rcx
	mov	AT(MARK_SAVED), %rax
	ret
.endm

FUNCTION(start_call)
	ask MARK_START
END(start_call)

FUNCTION(stop_call)
	ask MARK_STOP
END(stop_call)

/*
 * A C function may change everything that the calling convention allows: general registers and
 * flags are saved on the stack, vector state by xsave, in an area large enough for x87, SSE, AVX
 * and AVX-512.
 */
.macro ask_function kind
	pushfq
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbx
	push	%rbp
	mov	%rsp, %rbp
	cld
	and	$-64, %rsp
	sub	$MARK_VECTORS, %rsp
	/*
	 * xsave writes only the first word of the area's header, and xrstor requires the rest to be
	 * 0.
	 */
	xor	%eax, %eax
	.set	i, 512
	.rept	8
	mov	%rax, i(%rsp)
	.set	i, i + 8
	.endr
	mov	$0xe7, %eax
	xor	%edx, %edx
	xsave64	(%rsp)
	mov	AT(MARK_CURSOR), %rbx
	movl	$\kind, (%rbx)
	lea	8(%rbx), %rdi
	call	*AT(MARK_FUNCTION)
	mov	%eax, 4(%rbx)
	add	AT(MARK_STRIDE), %rbx
	mov	%rbx, AT(MARK_CURSOR)
	mov	$0xe7, %eax
	xor	%edx, %edx
	xrstor64 (%rsp)
	mov	%rbp, %rsp
	pop	%rbp
	pop	%rbx
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	popfq
	ret
.endm

FUNCTION(start_function)
	ask_function MARK_START
END(start_function)

FUNCTION(stop_function)
	ask_function MARK_STOP
END(stop_function)

/* Between the marks: only the call of stop. */
FUNCTION(pairs)
	push	%rbx
	push	%rbp
	push	%r12
	mov	%edi, %ebx
	mov	%rsi, %rbp
	mov	%rdx, %r12
1:	call	*%rbp
	call	*%r12
	dec	%ebx
	jnz	1b
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
END(pairs)

FUNCTION(around)
	push	%rbx
	push	%rbp
	sub	$8, %rsp
	mov	%rsi, %rbp
	mov	%rdx, %rbx
	call	*%rdi
	call	*%rbp
	call	*%rbx
	add	$8, %rsp
	pop	%rbp
	pop	%rbx
	ret
END(around)
#endif

	.section .note.GNU-stack, "", @progbits
