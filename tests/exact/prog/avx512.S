/* exact: needs=avx512f,avx512bw,avx512dq,avx512vl
 * AVX-512: masks, zeroing, broadcast, rounding, compressed displacements, registers 16 to 31. */
#include "run.inc"
	.macro	outz
	vmovups	%zmm2, (%r15)
	lea	64(%r15), %r15
	.endm
	begin
	mov	$0x5a5a5a5aa5a5, %rax
	kmovq	%rax, %k1
	knotq	%k1, %k2
	vmovups	a(%rip), %zmm0
	vmovups	b(%rip), %zmm17
	.irp i, vaddps, vsubpd, vmulps, vdivps, vmaxpd, vpaddd, vpmullq, vpsllvd, vpermd, vpermps, vfmadd132ps, vandps, vpandd, vpxorq, vpmaxuq, vpunpckldq, vpermw, vpsravq, vscalefps, vpsrlvw
	vmovaps	%zmm17, %zmm2
	\i	%zmm0, %zmm17, %zmm2{%k1}
	outz
	\i	b(%rip), %zmm0, %zmm2{%k2}{z}
	outz
	.endr
	.irp i, vaddps, vpaddd, vfmadd213ps, vpermi2d, vpermt2ps
	\i	a+4(%rip){1to16}, %zmm17, %zmm2
	outz
	.endr
	vaddps	{rz-sae}, %zmm0, %zmm17, %zmm2
	outz
	vsqrtpd	{ru-sae}, %zmm0, %zmm2{%k1}
	outz
	vpternlogd $0xca, %zmm0, %zmm17, %zmm2
	outz
	vcompressps %zmm0, %zmm2{%k1}{z}
	outz
	vexpandpd %zmm17, %zmm2{%k2}
	outz
	vpcmpd	$1, %zmm0, %zmm17, %k3
	vcmpps	$2, a(%rip), %zmm17, %k4{%k3}
	vptestmq %zmm0, %zmm17, %k5
	vpcmpub	$4, %zmm0, %zmm17, %k6
	.irp k, 1, 2, 3, 4, 5, 6
	kmovq	%k\k, %rax
	keep	%rax
	.endr
	kortestw %k1, %k2
	keepf
	ktestq	%k3, %k4
	jc	1f
	nop
1:	keepf
	kaddq	%k1, %k2, %k7
	kshiftlq $5, %k7, %k7
	kunpckdq %k1, %k7, %k7
	kmovq	%k7, m(%rip)
	kmovw	m(%rip), %k5
	vpbroadcastq %rax, %zmm2
	outz
	vinserti64x4 $1, %ymm17, %zmm0, %zmm2
	outz
	valignd	$3, %zmm0, %zmm17, %zmm2
	outz
	vshufi32x4 $0x4e, %zmm0, %zmm17, %zmm2
	outz
	vcvtps2udq %zmm17, %zmm2
	outz
	vpmovqb	%zmm0, %xmm2
	outz
	vpmovm2d %k1, %zmm2
	outz
	vgetexppd %zmm0, %zmm2
	outz
	vrndscaleps $0x13, %zmm17, %zmm2
	outz
	vfpclassps $0x22, %zmm0, %k1
	lea	m(%rip), %rbx
	vmovdqu32 %zmm0, 64(%rbx)	/* compressed displacement */
	vmovdqu8 128(%rbx), %zmm2{%k2}
	outz
	kxnorw	%k3, %k3, %k3
	vpsrld	$28, %zmm17, %zmm5
	lea	a(%rip), %rax
	vpgatherdd (%rax, %zmm5, 4), %zmm2{%k3}
	outz
	kxnorb	%k4, %k4, %k4
	vpmovzxbq idx(%rip), %zmm6
	vscatterqpd %zmm0, 64(%rbx, %zmm6, 8){%k4}
	vmovups	64(%rbx), %zmm2
	outz
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	mov	$\n + 1, %eax
	vpbroadcastd %eax, %zmm\n
	.endr
	mov	$0x1234567, %eax
	kmovd	%eax, %k5
	call	2f
	mov	$39, %eax
	syscall
	lea	3f(%rip), %rax
	jmp	*%rax
2:	ret
3:	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmovups	%zmm\n, (%r15)
	lea	64(%r15), %r15
	.endr
	kmovq	%k5, %rax
	keep	%rax
	vzeroupper
	finish
	.data
	.balign	64
a:	.float	1.5, -2.75, 1e10, 0.1, 5, -6, 7e-3, 8, 9, 10, 11, -12, 13, 14, 15.5, 16
b:	.float	3.25, 7.5, -1e-3, 123456.0, -0.0, 2, 3, -4, 5, 1e-30, 7, 8, 9e9, 10, -11, 12
m:	.skip	256
idx:	.byte	7, 6, 5, 4, 3, 2, 1, 0
