/* SSE to SSE4.2: arithmetic, conversion, comparison into flags, shuffles, strings, non-temporal. */
#include "run.inc"
	.macro	outx
	movups	%xmm2, (%r15)
	lea	16(%r15), %r15
	.endm
	.macro	both insn
	movups	a(%rip), %xmm2
	\insn	b(%rip), %xmm2
	outx
	movups	b(%rip), %xmm1
	movups	a(%rip), %xmm2
	\insn	%xmm1, %xmm2
	outx
	.endm
	begin
	.irp i, addps, subps, mulps, divps, minps, maxps, andps, orps, xorps, unpcklps, addpd, divpd, mulpd, sqrtps, rcpps, rsqrtps, paddb, paddq, psubw, pmulld, pmuludq, pmaddubsw, pcmpeqd, pcmpgtq, packusdw, punpckhqdq, pshufb, phaddd, pmaxud, pminsb, psignd, pavgw, psadbw, pmulhrsw, haddps, addsubpd, cvtdq2ps, cvtps2dq, cvttps2dq, cvtdq2pd, aesenc, aesdeclast, pabsw, pmovzxbw, pmovsxdq, blendvps, pblendvb, phminposuw, sha1nexte, sha256msg1, sqrtpd, pxor
	both	\i
	.endr
	.irp i, addss, subss, mulss, divss, minss, maxss, sqrtss, rcpss, cvtss2sd, movss
	movups	a(%rip), %xmm2
	\i	b(%rip), %xmm2
	outx
	.endr
	.irp i, addsd, subsd, mulsd, divsd, sqrtsd, cvtsd2ss, movsd, movhpd, movlpd
	movups	a(%rip), %xmm2
	\i	b(%rip), %xmm2
	outx
	.endr
	.irp i, "pshufd $0x93", "shufps $0x4e", "palignr $5", "pblendw $0x5a", "cmpps $2", "cmppd $5", "roundps $1", "dpps $0xf1", "mpsadbw $3", "pclmulqdq $0x10", "aeskeygenassist $7", "insertps $0x98"
	movups	a(%rip), %xmm2
	\i, b(%rip), %xmm2
	outx
	.endr
	movups	a(%rip), %xmm2
	movups	b(%rip), %xmm3
	.irp i, ucomiss, comiss, ucomisd, comisd, ptest
	\i	%xmm3, %xmm2
	jmp	1f
1:	keepf
	.endr
	.irp n, 0, 0x0c, 0x18, 0x4b
	pcmpistri $\n, %xmm3, %xmm2
	keepf
	keep	%rcx
	mov	$9, %eax
	mov	$12, %edx
	pcmpestri $\n, %xmm3, %xmm2
	keepf
	keep	%rcx
	pcmpistrm $\n, %xmm3, %xmm2
	movups	%xmm0, (%r15)
	lea	16(%r15), %r15
	.endr
	.irp i, cvtss2si, cvttss2si, cvtsd2si, cvttsd2si
	\i	b(%rip), %eax
	\i	%xmm3, %rbx
	keep	%rax, %rbx
	.endr
	cvtsi2ss %eax, %xmm2
	cvtsi2sd %rbx, %xmm2
	movmskps %xmm3, %eax
	pmovmskb %xmm3, %ebx
	pextrb	$3, %xmm3, %ecx
	pextrq	$1, %xmm3, %rdx
	pinsrd	$2, %eax, %xmm2
	extractps $1, %xmm3, %esi
	keep	%rax, %rbx, %rcx, %rdx, %rsi
	outx
	movntps	%xmm3, m(%rip)
	movntdq	%xmm3, m+16(%rip)
	movntdqa m(%rip), %xmm2
	movnti	%rax, m+32(%rip)
	lea	m(%rip), %rdi
	maskmovdqu %xmm2, %xmm3
	outx
	movaps	m(%rip), %xmm2
	outx
	stmxcsr	m(%rip)
	mov	m(%rip), %eax
	keep	%rax
	movl	$0x7f80, m(%rip)
	ldmxcsr	m(%rip)
	movups	a(%rip), %xmm2
	divps	b(%rip), %xmm2
	outx
	/* all sixteen live over a block end */
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	mov	$\n + 100, %eax
	movq	%rax, %xmm\n
	.endr
	call	2f
	jmp	3f
2:	ret
3:	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movups	%xmm\n, (%r15)
	lea	16(%r15), %r15
	.endr
	finish
	.data
	.balign	16
a:	.float	1.5, -2.75, 1e10, 0.1
b:	.float	3.25, 7.5, -1e-3, 123456.0
m:	.skip	64
