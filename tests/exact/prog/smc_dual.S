/* One memory file mapped twice, to write and to run: a store through one shows in the other. */
#include "run.inc"
	begin
	mov	$319, %eax			/* memfd_create */
	lea	name(%rip), %rdi
	xor	%esi, %esi
	syscall
	mov	%eax, %ebp
	mov	%eax, %edi
	mov	$77, %eax			/* ftruncate */
	mov	$4096, %esi
	syscall
	mov	$9, %eax
	mov	$0x10000000, %edi
	mov	$4096, %esi
	mov	$3, %edx
	mov	$0x11, %r10d
	mov	%rbp, %r8
	xor	%r9d, %r9d
	syscall
	mov	$9, %eax
	mov	$0x20000000, %edi
	mov	$4096, %esi
	mov	$5, %edx
	mov	$0x11, %r10d
	mov	%rbp, %r8
	xor	%r9d, %r9d
	syscall
	keep	%rax
	mov	$0x10000000, %r12d
	mov	$0x20000000, %r14d
	mov	$25, %r13d
	movb	$0xb8, (%r12)
	movb	$0xc3, 5(%r12)
1:	mov	%r13d, 1(%r12)
	call	*%r14
	add	%rax, %rbx
	dec	%r13d
	jnz	1b
	keep	%rbx
	/* and written with pwrite */
	mov	$18, %eax
	mov	%ebp, %edi
	lea	value(%rip), %rsi
	mov	$4, %edx
	mov	$1, %r10d
	syscall
	call	*%r14
	keep	%rax
	finish
	.data
name:	.asciz	"code"
value:	.long	0x7654321
