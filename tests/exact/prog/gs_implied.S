/*
 * Through GS, memory that no operand names or that counts no load or store: gathers and scatters, masked moves, cache lines
 * flushed. The engine has a GS of its own, and none of these may reach it.			exact: needs=avx512f,clflushopt
 */
#include "run.inc"
	begin
	mov	$158, %eax
	mov	$0x1001, %edi		/* ARCH_SET_GS */
	lea	memory(%rip), %rsi
	syscall
	pcmpeqb	%xmm1, %xmm1
	movdq2q	%xmm1, %mm1
	pcmpeqb	%xmm0, %xmm0
	movdq2q	%xmm0, %mm0
	mov	$0x10, %edi
	.byte	0x65
	maskmovq %mm1, %mm0
	mov	$0x20, %edi
	.byte	0x65
	maskmovdqu %xmm1, %xmm0
	mov	$0x38, %edi
	.byte	0x65
	vmaskmovdqu %xmm1, %xmm0
	vpxor	%ymm1, %ymm1, %ymm1
	vpcmpeqb %ymm2, %ymm2, %ymm2
	vpgatherdd %ymm2, %gs:8(,%ymm1,1), %ymm0
	vmovd	%xmm0, %eax
	keep	%rax
	kxnorw	%k1, %k1, %k1
	vmovdqa32 %zmm0, %zmm3
	vpscatterdd %zmm3, %gs:4(,%zmm1,1){%k1}
	kxnorw	%k1, %k1, %k1
	vpgatherdd %gs:0x10(,%zmm1,1), %zmm3{%k1}
	vmovd	%xmm3, %eax
	keep	%rax
	clflush	%gs:0x40
	clflushopt %gs:0x40
	prefetcht0 %gs:0
	.byte	0x65, 0x48, 0x8d, 0x04, 0x25, 8, 0, 0, 0	/* lea gs:8, rax */
	nopw	%gs:0
	mov	%gs:0x10, %rax
	keep	%rax
	lea	memory(%rip), %rsi
	mov	%r15, %rdi
	mov	$128, %ecx
	rep movsb
	mov	%rdi, %r15
	finish
	.data
	.balign	64
memory:	.quad	1, 0x2222, 3, 4, 5, 6, 7, 8
	.skip	64
