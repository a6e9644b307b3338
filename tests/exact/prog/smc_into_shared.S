/*
 * A block that begins in a private page and goes on in a shared one, whose writes nobody sees: there it changes its own next
 * instruction.
 */
#include "run.inc"
	begin
	mov	$10, %eax			/* mprotect(code, 2 pages, rwx) */
	lea	code(%rip), %rdi
	mov	$0x2000, %esi
	mov	$7, %edx
	syscall
	keep	%rax
	lea	second(%rip), %rsi
	lea	kept(%rip), %rdi
	mov	$64, %ecx
	rep movsb
	mov	$9, %eax			/* mmap(second, a page, rwx, fixed, shared, anonymous) */
	lea	second(%rip), %rdi
	mov	$0x1000, %esi
	mov	$7, %edx
	mov	$0x31, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	syscall
	lea	kept(%rip), %rsi
	lea	second(%rip), %rdi
	mov	$64, %ecx
	rep movsb
	xor	%ebx, %ebx
	mov	$6, %ebp
1:	call	into
	keep	%rbx
	dec	%ebp
	jnz	1b
	finish

	.balign	4096
code:	.skip	4092, 0x90
into:	.byte	0x0f, 0x1f, 0x40, 0		/* a nop, up to the page's end */
second:	addl	$5, 1f+1(%rip)
	addl	$7, 1f+1(%rip)
1:	mov	$1, %eax
	add	%rax, %rbx
	ret
	.balign	4096, 0x90

	.bss
kept:	.skip	64
