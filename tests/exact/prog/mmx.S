/* MMX and the way between it and x87. */
#include "run.inc"
	begin
	movq	a(%rip), %mm0
	movq	b(%rip), %mm1
	.irp i, paddb, paddw, paddd, paddq, psubb, psubusw, pmullw, pmulhw, pmaddwd, pand, pandn, por, pxor, pcmpeqb, pcmpgtd, packsswb, packssdw, packuswb, punpcklbw, punpckhdq, psllw, psrad, psrlq, pavgb, pmaxsw, pminub, psadbw, pshufb, phaddw, pabsd, psignw
	movq	a(%rip), %mm2
	\i	%mm1, %mm2
	movq	%mm2, %rax
	keep	%rax
	.endr
	pshufw	$0x1b, %mm0, %mm3
	pinsrw	$2, %eax, %mm3
	pextrw	$1, %mm3, %ecx
	pmovmskb %mm3, %edx
	movd	%mm3, %ebx
	keep	%rcx, %rdx, %rbx
	movntq	%mm3, c(%rip)
	lea	c(%rip), %rdi
	maskmovq %mm0, %mm1
	cvtpi2ps %mm0, %xmm0
	cvttps2pi %xmm0, %mm4
	movdq2q	%xmm0, %mm5
	movq2dq	%mm5, %xmm1
	movq	%xmm1, %rax
	keep	%rax
	emms
	mov	c(%rip), %rax
	keep	%rax
	finish
	.data
a:	.quad	0x0102f3f48586a7a8
b:	.quad	0x1ff80305070b0d11
c:	.quad	0
