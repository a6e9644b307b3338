/* SPDX-License-Identifier: MIT */
/*
 * probe(call, state): every register is loaded from state->in, the function called, and all of them stored to state->out. rsp and rip
 * aside, which it takes for granted.
 *
 *	state    0 in[16]: rax rbx rcx rdx rsi rdi rbp r8..r15 flags
 *	       128 out[16]
 *	       256 vector state in, as xsave has it (8192 bytes)
 *	      8448 vector state out
 */
	.text
	.globl	probe
	.type	probe, @function
probe:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	sub	$24, %rsp
	mov	%rdi, (%rsp)		/* the function */
	mov	%rsi, 8(%rsp)		/* the state */
	mov	$0xe7, %eax		/* x87, sse, avx, and the three of avx-512 */
	xor	%edx, %edx
	xrstor64 256(%rsi)
	pushq	120(%rsi)
	popfq
	mov	0(%rsi), %rax
	mov	8(%rsi), %rbx
	mov	16(%rsi), %rcx
	mov	24(%rsi), %rdx
	mov	40(%rsi), %rdi
	mov	48(%rsi), %rbp
	mov	56(%rsi), %r8
	mov	64(%rsi), %r9
	mov	72(%rsi), %r10
	mov	80(%rsi), %r11
	mov	88(%rsi), %r12
	mov	96(%rsi), %r13
	mov	104(%rsi), %r14
	mov	112(%rsi), %r15
	mov	32(%rsi), %rsi
	call	*(%rsp)
	pushfq
	push	%rsi
	mov	24(%rsp), %rsi
	mov	%rax, 128(%rsi)
	mov	%rbx, 136(%rsi)
	mov	%rcx, 144(%rsi)
	mov	%rdx, 152(%rsi)
	pop	160(%rsi)
	mov	%rdi, 168(%rsi)
	mov	%rbp, 176(%rsi)
	mov	%r8, 184(%rsi)
	mov	%r9, 192(%rsi)
	mov	%r10, 200(%rsi)
	mov	%r11, 208(%rsi)
	mov	%r12, 216(%rsi)
	mov	%r13, 224(%rsi)
	mov	%r14, 232(%rsi)
	mov	%r15, 240(%rsi)
	pop	248(%rsi)
	cld
	mov	$0xe7, %eax
	xor	%edx, %edx
	xsave64	8448(%rsi)
	fninit
	movl	$0x1f80, 16(%rsp)
	ldmxcsr	16(%rsp)
	add	$24, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
	.section .note.GNU-stack, "", @progbits
