/* RIP-relative operands in every shape: with no, 1, 2 and 4 bytes of immediate behind them, each
 * size, VEX and EVEX, x87, locked, as jump and call slots. */
#include "run.inc"
	begin
	mov	d(%rip), %rax
	mov	d(%rip), %ecx
	mov	d(%rip), %dx
	mov	d(%rip), %bl
	keep	%rax, %rcx, %rdx, %rbx
	movb	$0x11, d(%rip)
	movw	$0x2222, d+2(%rip)
	movl	$0x33333333, d+4(%rip)
	movq	$-5, d+8(%rip)
	addb	$1, d(%rip)
	addw	$0x101, d+2(%rip)
	addl	$0x10001, d+4(%rip)
	addq	$3, d+8(%rip)
	testl	$0x7fffffff, d(%rip)
	keepf	0xcc5
	cmpw	$0x1234, d(%rip)
	keepf
	imul	$0x12345, d(%rip), %rax
	imul	$3, d(%rip), %ecx
	imul	d(%rip), %edx
	keep	%rax, %rcx, %rdx
	shll	$3, d(%rip)
	shrw	d+4(%rip)
	shld	$5, %rax, d(%rip)
	btl	$7, d(%rip)
	keepf	0x1
	btsq	$33, d(%rip)
	lea	d(%rip), %rax
	lea	d+0x1000(%rip), %ebx
	lea	results(%rip), %rcx
	sub	%rcx, %rax
	keep	%rax
	push	d(%rip)
	pop	d+16(%rip)
	mov	d+16(%rip), %rax
	keep	%rax
	lock addq $9, d(%rip)
	lock xadd %rax, d(%rip)
	xchg	%rax, d+8(%rip)
	keep	%rax
	mov	$1, %eax
	lock cmpxchg %rbx, d(%rip)
	keepf
	lock cmpxchg16b q(%rip)
	keep	%rax, %rdx
	fldl	f(%rip)
	faddl	f+8(%rip)
	fildl	d(%rip)
	faddp
	fstpl	f+16(%rip)
	mov	f+16(%rip), %rax
	keep	%rax
	movups	q(%rip), %xmm0
	pshufd	$0x1b, q(%rip), %xmm1
	paddq	q(%rip), %xmm1
	shufps	$0x4e, q(%rip), %xmm1
	movq	%xmm1, %rax
	keep	%rax
	cvtsi2sdq d(%rip), %xmm2
	ucomisd	f(%rip), %xmm2
	keepf
	movmskpd %xmm2, %eax
	movzbl	d(%rip), %eax
	movslq	d+4(%rip), %rbx
	movsbw	d+1(%rip), %cx
	keep	%rax, %rbx
	call	*go(%rip)
	lea	1f(%rip), %rax
	mov	%rax, go2(%rip)
	jmp	*go2(%rip)
	ud2
1:
	notq	d(%rip)
	negw	d(%rip)
	mulq	d(%rip)
	keep	%rax, %rdx
	cmove	d(%rip), %rax
	sete	d(%rip)
	prefetcht0 d(%rip)
	nopw	d(%rip)
	crc32q	d(%rip), %rsi
	popcnt	d(%rip), %rdi
	movbe	d(%rip), %r8
	keep	%rsi, %rdi, %r8
	stmxcsr	d+24(%rip)
	ldmxcsr	d+24(%rip)
	.irp o, 0, 8, 16
	mov	d+\o(%rip), %rax
	keep	%rax
	.endr
	finish
sub:	keep	%rbx
	ret
	.data
	.balign 64
d:	.quad	0x0123456789abcdef, 0x1122334455667788, 0, 0, 0
	.balign 16
q:	.quad	0x0f0e0d0c0b0a0908, 0x0706050403020100
f:	.double	1.5, 2.25, 0
go:	.quad	sub
go2:	.quad	0
