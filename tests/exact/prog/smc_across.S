/*
 * Code that begins in one page and is written in the next, where no block begins: by a store from elsewhere, over and over; from both
 * pages; and where a block in a loop goes across.
 */
#include "run.inc"
	begin
	mov	$10, %eax			/* mprotect(code, 4 pages, rwx) */
	lea	code(%rip), %rdi
	mov	$0x4000, %esi
	mov	$7, %edx
	syscall
	keep	%rax
	xor	%ebx, %ebx
	mov	$8, %ecx
1:	call	across
	keep	%rbx
	addl	$3, across+2(%rip)		/* in the second page alone */
	dec	%ecx
	jnz	1b
	mov	$4, %ecx
2:	call	loops
	keep	%rbx, %rdx
	addb	$1, step+3(%rip)
	dec	%ecx
	jnz	2b
	finish

	.balign	4096
code:	.skip	4094, 0x90
across:	nop
	mov	$1, %eax			/* its immediate is the second page's */
	add	%rax, %rbx
	ret
	.balign	4096, 0x90
	.skip	4088, 0x90
loops:	mov	$5, %edx
over:	inc	%rbx				/* the last three bytes of the page */
step:	add	$1, %rbx
	dec	%edx
	jnz	over
	ret
	.balign	4096, 0x90
