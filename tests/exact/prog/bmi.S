/* exact: needs=bmi1,bmi2,adx,abm,popcnt
 * BMI1, BMI2, ADX, LZCNT, POPCNT, with the flags they define. */
#include "run.inc"
	begin
	.irp v, 0, 1, 0x8000000000000000, 0x123456789abcdef0
	movabs	$\v, %rax
	mov	$0xff00ff00ff, %rbx
	mov	$0x1005, %ecx
	.irp i, andn, pdep, pext
	\i	%rax, %rbx, %rdx
	keep	%rdx
	\i	%eax, %ecx, %edx
	keep	%rdx
	.endr
	andn	%rax, %rbx, %rdx
	keepf	0x8c1
	.irp i, bextr, bzhi, sarx, shlx, shrx
	flags	0xcd7
	cld
	\i	%rcx, %rax, %rdx
	keep	%rdx
	\i	%ecx, word(%rip), %edx
	keep	%rdx
	.endr
	.irp i, blsi, blsr, blsmsk
	\i	%rax, %rdx
	keepf	0xc1
	keep	%rdx
	.endr
	.irp i, tzcnt, lzcnt, popcnt
	\i	%rax, %rdx
	keepf	0x41
	keep	%rdx
	\i	%ax, %dx
	\i	word(%rip), %edx
	keep	%rdx
	.endr
	mov	%rbx, %rdx
	stc
	mulx	%rax, %rsi, %rdi
	jmp	1f
1:	keepf	1
	keep	%rsi, %rdi
	rorx	$13, %rax, %rdx
	keep	%rdx
	flags	0x803
	adcx	%rax, %rsi
	jmp	2f
2:	adox	%rbx, %rdi
	jmp	3f
3:	keepf
	keep	%rsi, %rdi
	mov	$5, %ecx
	xor	%ebp, %ebp
4:	adox	%rax, %rsi
	adcx	%rbx, %rdi
	lea	-1(%rcx), %rcx
	jrcxz	5f
	jmp	4b
5:	keepf
	keep	%rsi, %rdi
	.endr
	finish
	.data
word:	.quad	0x00f0000000000010
