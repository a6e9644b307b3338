/* Code that rewrites itself: the next instruction, its own immediate, a loop body, a call target,
 * and an instruction that straddles two pages. x86 sees such stores at once. */
#include "run.inc"
	begin
	mov	$10, %eax			/* mprotect(code, 3 pages, rwx) */
	lea	page(%rip), %rdi
	mov	$0x3000, %esi
	mov	$7, %edx
	syscall
	keep	%rax
	call	page
	keep	%rax, %rbx, %rcx, %rdx
	finish

	.balign	4096
page:	xor	%ebx, %ebx
	movl	$0x11223344, 1f+1(%rip)		/* the next instruction's immediate */
1:	mov	$0x55667788, %eax
	add	%rax, %rbx
	movb	$0x01, 2f(%rip)			/* xor becomes add */
2:	xor	%eax, %ebx
	mov	$20, %ecx
3:	add	$1, %rdx			/* 48 83 c2 01: its immediate grows each time round */
	incb	3b+3(%rip)
	dec	%ecx
	jnz	3b
	mov	$10, %ecx
4:	call	5f
	addl	$2, 5f+1(%rip)
	dec	%ecx
	jnz	4b
	/* a jump that is turned round */
	mov	$3, %esi
6:	jmp	7f
	nop
7:	inc	%rbx
8:	movb	$0x01, 6b+1(%rip)		/* next time: skips the nop only */
	dec	%esi
	jnz	6b
	jmp	9f
5:	mov	$1, %eax
	add	%rax, %rbx
	ret
	.balign	4096, 0x90
	.skip	4094, 0x90
9:	mov	$1, %eax			/* straddles the page end */
	add	%rax, %rbx
	incl	9b+1(%rip)
	cmpl	$6, 9b+1(%rip)
	jne	9b
	ret
	.balign	4096
