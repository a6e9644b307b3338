/* exact: needs=avx2,fma,f16c
 * AVX, AVX2, FMA and F16C, with all of the registers' upper halves live over block ends. */
#include "run.inc"
	.macro	outy
	vmovups	%ymm2, (%r15)
	lea	32(%r15), %r15
	.endm
	begin
	vmovups	a(%rip), %ymm0
	vmovups	b(%rip), %ymm1
	.irp i, vaddps, vsubpd, vmulps, vdivps, vmaxpd, vandps, vxorpd, vunpckhps, vhaddpd, vpaddb, vpaddq, vpsubusb, vpmulld, vpcmpeqw, vpcmpgtq, vpackssdw, vpunpcklbw, vpshufb, vpsllvd, vpsrlvq, vpsravd, vpermd, vpermps, vfmadd132ps, vfmsub231pd, vfnmadd213ps, vpand, vpor, vpmaxsd, vpsadbw, vpmaddwd
	vmovaps	%ymm1, %ymm2
	\i	%ymm0, %ymm1, %ymm2
	outy
	\i	b(%rip), %ymm0, %ymm2
	outy
	.endr
	.irp i, "vpermq $0x1b, %ymm0", "vpermilps $0x39, %ymm0", "vpsllw $3, %ymm1", "vpsrldq $5, %ymm0", "vroundps $2, %ymm1", "vpshufd $0x4e, b(%rip)"
	\i, %ymm2
	outy
	.endr
	.irp i, vperm2f128, vperm2i128, vblendps, vpblendd, vpalignr, vcmpps, vshufpd, vdpps, vmpsadbw
	\i	$0x21, %ymm1, %ymm0, %ymm2
	outy
	.endr
	vinsertf128 $1, %xmm1, %ymm0, %ymm2
	outy
	vextracti128 $1, %ymm0, %xmm2
	outy
	vbroadcastss b+4(%rip), %ymm2
	outy
	vpbroadcastb %xmm1, %ymm2
	outy
	vblendvps %ymm0, %ymm1, %ymm0, %ymm2
	outy
	vmaskmovps a(%rip), %ymm1, %ymm2
	outy
	vpmaskmovq %ymm1, %ymm0, m(%rip)
	vmovups	m(%rip), %ymm2
	outy
	vcvtps2ph $0, %ymm0, %xmm2
	vcvtph2ps %xmm2, %ymm2
	outy
	vpxor	%xmm3, %xmm3, %xmm3
	vpcmpeqd %ymm4, %ymm4, %ymm4
	vpsrld	$29, %ymm1, %ymm5
	lea	a(%rip), %rax
	vpgatherdd %ymm4, (%rax, %ymm5, 4), %ymm2
	outy
	vpcmpeqd %ymm4, %ymm4, %ymm4
	vpmovzxbq idx(%rip), %ymm5
	vgatherqpd %ymm4, (%rax, %ymm5, 8), %ymm2
	outy
	vtestps	%ymm0, %ymm1
	keepf
	vptest	%ymm0, %ymm1
	keepf
	vucomiss %xmm0, %xmm1
	keepf
	vmovmskps %ymm1, %eax
	vpmovmskb %ymm0, %ebx
	keep	%rax, %rbx
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	mov	$\n + 1, %eax
	vmovd	%eax, %xmm\n
	vpbroadcastd %xmm\n, %ymm\n
	.endr
	call	2f
	mov	$39, %eax
	syscall
	lea	3f(%rip), %rax
	jmp	*%rax
2:	ret
3:	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovups	%ymm\n, (%r15)
	lea	32(%r15), %r15
	.endr
	vzeroupper
	vmovups	%ymm9, (%r15)
	lea	32(%r15), %r15
	vzeroall
	finish
	.data
	.balign	32
a:	.float	1.5, -2.75, 1e10, 0.1, 5, -6, 7e-3, 8
b:	.float	3.25, 7.5, -1e-3, 123456.0, -0.0, 2, 3, -4
m:	.skip	64
idx:	.byte	0, 1, 3, 2, 0, 0, 0, 0
