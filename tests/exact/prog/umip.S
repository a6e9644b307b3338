/*
 * What a processor with UMIP leaves to the kernel (sgdt, sidt, sldt, str, smsw) does not retire there: by itself, several in a
 * row, before and behind branches, system calls and string instructions, with flags live through it.
 */
#include "run.inc"
	begin
	flags	0xcd7
	cld
	sidt	table(%rip)
	keepf
	sgdt	table(%rip)
	sidt	table(%rip)
	smsw	%eax
	sldt	%ecx
	str	%edx
	keep	%rax, %rcx, %rdx
	mov	$3, %ebx
1:	smsw	%eax
	dec	%ebx
	smsw	%rax
	jnz	1b
	call	2f
	sidt	table(%rip)
	jmp	3f
2:	sidt	table(%rip)
	ret
3:	mov	$39, %eax
	sidt	table(%rip)
	syscall
	lea	table(%rip), %rdi
	lea	results(%rip), %rsi
	mov	$9, %ecx
	smsw	16(%rdi)
	rep movsb
	str	16(%rdi)
	cmp	%eax, %eax
	sldt	(%rdi)
	je	4f
	ud2
4:	jmp	*5f(%rip)
	.balign	8
5:	.quad	6f
6:	smsw	%ax
	finish
	.data
table:	.skip	64
