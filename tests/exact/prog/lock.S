/* Every locked operation, the implicit one of xchg, and compare-and-exchange both ways. */
#include "run.inc"
	begin
	lea	m(%rip), %rbx
	mov	$0x1122334455667788, %rcx
	.irp i, add, or, adc, sbb, and, sub, xor
	.irp s, b, w, l, q
	flags	0xcd7
	lock \i\s $0x5a, (%rbx)
	keepf	0xcc5
	cld
	.endr
	.endr
	.irp i, inc, dec, neg, not
	.irp s, b, w, l, q
	lock \i\s 8(%rbx)
	keepf
	.endr
	.endr
	.irp r, %cl, %cx, %ecx, %rcx
	lock add \r, (%rbx)
	lock xadd \r, 16(%rbx)
	xchg	\r, 24(%rbx)
	lock xchg \r, 24(%rbx)
	keep	%rcx
	mov	$0, %eax
	lock cmpxchg \r, 32(%rbx)
	keepf
	lock cmpxchg \r, 32(%rbx)
	keepf
	keep	%rax
	.endr
	.irp i, bts, btr, btc
	lock \i\()l $5, (%rbx)
	keepf	1
	mov	$77, %edx
	lock \i	%rdx, (%rbx)
	keepf	1
	.endr
	xor	%eax, %eax
	xor	%edx, %edx
	mov	$7, %ecx
	lock cmpxchg8b 40(%rbx)
	keepf
	lock cmpxchg8b 40(%rbx)
	keepf
	keep	%rax, %rdx
	push	%rbx
	mov	$9, %ebx
	.rept	3
	lock cmpxchg16b m+48(%rip)
	keepf
	keep	%rax, %rdx
	.endr
	pop	%rbx
	mov	$8, %ecx
	mov	%rbx, %rsi
	mov	%r15, %rdi
	rep movsq
	mov	%rdi, %r15
	finish
	.data
	.balign	64
m:	.quad	0x0102030405060708, 1, 2, 3, 0, 5, 0, 0, 0
