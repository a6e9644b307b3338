/* SPDX-License-Identifier: MIT */
/*
 * The kernels of arch/kernels.h: %rdi turns, %rsi memory. Their sizes are in kernels.c next to this
 * file.
 */

	.macro begin name
	.globl	kernel_\name
	.hidden	kernel_\name
	.type	kernel_\name, @function
	.balign	64
kernel_\name:
	.endm

/* sub, jnz, ret: the end of each. */
	.macro end name, to
	sub	$1, %rdi
	jnz	\to
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
	lea	1(%rax), %rax
	xor	%rax, %rcx
	add	%rcx, %rdx
	mov	%rdx, %r8
	.endr
end straight, 1b

begin taken
1:	xor	%eax, %eax
	.rept 8
	jz	2f
	nop
2:
	.endr
end taken, 1b

begin not_taken
1:	xor	%eax, %eax
	.rept 8
	jnz	2f
	.endr
	nop
2:
end not_taken, 1b

/*
 * A random bit selects one of the two branches; one of them is taken, and both lead to the next
 * turn.
 */
begin random
	mov	$0x5851f42d4c957f2d, %rcx
	mov	%rsp, %rax
1:	imul	%rcx, %rax
	add	$0x14057b7f, %rax
	bt	$60, %rax
	jc	2f
2:	jnc	3f
3:
end random, 1b

begin calls
1:	call	2f
	call	2f
	sub	$1, %rdi
	jnz	1b
	ret
2:	ret
	.size	kernel_calls, . - kernel_calls

/* A return without a matching call: it jumps to the pushed address. */
begin returns
1:	lea	2f(%rip), %rax
	push	%rax
	ret
2:
end returns, 1b

begin jumps
1:	jmp	2f
	nop
2:	jmp	3f
	nop
3:
end jumps, 1b

begin indirect
1:	lea	2f(%rip), %rax
	jmp	*%rax
	nop
2:	lea	3f(%rip), %rax
	jmp	*%rax
	nop
3:
end indirect, 1b

begin loads
1:
	.irp at, 0, 8, 16, 24, 64, 72, 128, 192
	mov	\at(%rsi), %rax
	.endr
end loads, 1b

begin stores
1:
	.irp at, 0, 8, 16, 24, 64, 72, 128, 192
	mov	%rax, \at(%rsi)
	.endr
end stores, 1b

/* Another page and another line each time, through the whole memory. */
begin far
	xor	%eax, %eax
1:	mov	(%rsi,%rax), %rdx
	add	$4160, %eax
	and	$(8 << 20) - 64, %eax
end far, 1b

begin atomics
1:
	.rept 4
	lock xadd %rax, (%rsi)
	.endr
end atomics, 1b

begin rep
1:	mov	%rsi, %r8
	xor	%eax, %eax
	mov	%rdi, %r9
	mov	%rsi, %rdi
	mov	$64, %ecx
	rep stosb
	mov	%r9, %rdi
	mov	%r8, %rsi
end rep, 1b

begin syscalls
1:	mov	$110, %eax /* getppid */
	syscall
end syscalls, 1b

begin x87
1:
	.rept 4
	fld1
	fld1
	faddp
	fstp	%st(0)
	.endr
end x87, 1b

begin scalar
	xorps	%xmm0, %xmm0
	xorps	%xmm1, %xmm1
1:
	.rept 4
	addsd	%xmm1, %xmm0
	mulsd	%xmm1, %xmm0
	.endr
end scalar, 1b

begin packed
	xorps	%xmm0, %xmm0
	xorps	%xmm1, %xmm1
1:
	.rept 4
	addpd	%xmm1, %xmm0
	mulpd	%xmm1, %xmm0
	.endr
end packed, 1b

begin vector
	pxor	%xmm0, %xmm0
	pxor	%xmm1, %xmm1
1:
	.rept 8
	paddd	%xmm1, %xmm0
	.endr
end vector, 1b

begin divides
	mov	$7, %ecx
1:	xor	%edx, %edx
	mov	$1000001, %eax
	div	%ecx
	xor	%edx, %edx
	div	%ecx
end divides, 1b

	.section .note.GNU-stack, "", @progbits
