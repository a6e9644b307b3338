/* exact: needs=xsave
 * xgetbv, and the state-saving instructions round trip; the x87 pointers in the image are left out. */
#include "run.inc"
	begin
	xor	%ecx, %ecx
	xgetbv
	keep	%rax, %rdx
	mov	$0x3ff0000000000000, %rax
	movq	%rax, %xmm3
	vpbroadcastq %xmm3, %ymm4
	fldpi
	mov	$7, %eax
	xor	%edx, %edx
	xsave64	area(%rip)
	vpxor	%ymm4, %ymm4, %ymm4
	pxor	%xmm3, %xmm3
	fninit
	mov	$7, %eax
	xrstor64 area(%rip)
	vmovups	%ymm4, (%r15)
	movups	%xmm3, 32(%r15)
	fstpt	48(%r15)
	lea	64(%r15), %r15
	fxsave	area(%rip)
	fxrstor	area(%rip)
	mov	$7, %eax
	xsavec	area(%rip)
	xsaveopt area(%rip)
	mov	area+512(%rip), %rax
	keep	%rax
	fnstenv	area(%rip)
	fldenv	area(%rip)
	fnstcw	area(%rip)
	mov	area(%rip), %ax
	keep	%rax
	finish
	.bss
	.balign	64
area:	.skip	8192
