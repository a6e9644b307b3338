/* rep movs into a page that is not there yet: the handler maps it, and the instruction goes on where
 * it was. It counts one in all; a second one is given up half way and counts nothing. */
#include "run.inc"
#include "sig.inc"
	begin
	altstack
	handle	11, handler
	lea	src(%rip), %rsi
	mov	$0x10000000 + 4096 - 100, %edi
	mov	$9, %eax			/* mmap one page of it */
	push	%rsi
	mov	$0x10000000, %edi
	mov	$4096, %esi
	mov	$3, %edx
	mov	$0x32, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	syscall
	pop	%rsi
	mov	$0x10000000 + 4096 - 100, %edi
	mov	$300, %ecx
	rep movsb
	keep	%rsi, %rdi, %rcx
	mov	seen(%rip), %rax
	mov	seen+8(%rip), %rbx
	mov	seen+16(%rip), %rcx
	keep	%rax, %rbx, %rcx
	movl	$1, give_up(%rip)
	mov	$0x10000000 + 8192 - 16, %edi
	mov	$5, %ecx
	mov	$0x77, %eax
	rep stosq
	ud2
after:	keep	%rdi, %rcx
	mov	0x10000000 + 8192 - 8, %rax
	keep	%rax
	finish
handler:
	mov	%rdx, %rbp
	mov	UC_RCX(%rbp), %rax
	mov	%rax, seen(%rip)
	mov	UC_RDI(%rbp), %rax
	mov	%rax, seen+8(%rip)
	mov	UC_CR2(%rbp), %rax
	mov	%rax, seen+16(%rip)
	cmpl	$0, give_up(%rip)
	jne	1f
	mov	$9, %eax
	mov	$0x10001000, %edi
	mov	$4096, %esi
	mov	$3, %edx
	mov	$0x32, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	syscall
	ret
1:	lea	after(%rip), %rax
	mov	%rax, UC_RIP(%rbp)
	ret
	.data
give_up: .long	0
seen:	.quad	0, 0, 0
	.bss
src:	.skip	512
