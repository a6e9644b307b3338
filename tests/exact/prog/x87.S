/* x87: stack, arithmetic, transcendental functions, comparisons, environment and control word. */
#include "run.inc"
	.macro	out
	fstpt	(%r15)
	movw	$0, 10(%r15)
	movl	$0, 12(%r15)
	lea	16(%r15), %r15
	.endm
	begin
	fninit
	fldpi
	fldl2e
	fadd	%st(1), %st
	out
	fsqrt
	out
	fld1
	fldz
	fldl2t
	fldlg2
	fldln2
	fxch	%st(3)
	fmulp
	fsubrp
	fdivrp
	out
	ffree	%st
	fninit
	fldl	x(%rip)
	fsin
	out
	fldl	x(%rip)
	fcos
	out
	fldl	x(%rip)
	fptan
	out
	out
	fldl	x(%rip)
	fld1
	fpatan
	out
	fldl	x(%rip)
	fsincos
	out
	out
	fldl	y(%rip)
	f2xm1
	out
	fld1
	fldl	x(%rip)
	fyl2x
	out
	fldl	x(%rip)
	fldl	y(%rip)
	fprem
	fnstsw	%ax
	keep	%rax
	out
	out
	fldl	y(%rip)
	fldl	x(%rip)
	fcomi	%st(1), %st
	keepf	0x45
	fucomip	%st(1), %st
	keepf	0x45
	fcmovb	%st(0), %st
	out
	fldl	x(%rip)
	fcompl	y(%rip)
	fnstsw	%ax
	sahf
	jae	1f
	nop
1:	keepf	0xd5
	fninit
	fldl	x(%rip)
	fistl	n(%rip)
	fistpll	n+8(%rip)
	fldl	x(%rip)
	fisttpll n+16(%rip)
	fildl	n(%rip)
	fiaddl	n(%rip)
	fimuls	n(%rip)
	out
	fbld	bcd(%rip)
	out
	fldl	x(%rip)
	fbstp	bcd(%rip)
	fnstcw	cw(%rip)
	orw	$0xc00, cw(%rip)
	fldcw	cw(%rip)
	fldl	x(%rip)
	frndint
	out
	fldl	x(%rip)
	fchs
	fabs
	fxtract
	fscale
	out
	out
	fldz
	fld1
	fdivp	%st, %st(1)
	fnstsw	%ax
	keep	%rax
	fxam
	fnstsw	%ax
	keep	%rax
	fnclex
	fincstp
	fdecstp
	fninit
	fnsave	env(%rip)
	frstor	env(%rip)
	movl	n(%rip), %eax
	mov	n+8(%rip), %rbx
	mov	n+16(%rip), %rcx
	mov	bcd(%rip), %rdx
	keep	%rax, %rbx, %rcx, %rdx
	fldl	x(%rip)
	fwait
	emms
	finish
	.data
x:	.double	2.7182818284590452
y:	.double	0.4375
n:	.quad	0, 0, 0
bcd:	.byte	0x21, 0x43, 0x65, 0x87, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
cw:	.word	0
	.bss
env:	.skip	128
