/* What a system call leaves: every register but rax, rcx and r11; rcx is the address behind it, r11
 * the flags. Errors, six arguments, an unknown number, int $0x80 left to another program. */
#include "run.inc"
	begin
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
	mov	$\n + 0x10, %eax
	movq	%rax, %xmm\n
	.endr
	mov	$39, %eax
	mov	$2, %ebx
	mov	$3, %edx
	mov	$4, %esi
	mov	$5, %edi
	mov	$6, %ebp
	mov	$8, %r8d
	mov	$9, %r9d
	mov	$10, %r10d
	mov	$12, %r12d
	mov	$13, %r13d
	mov	$14, %r14d
	flags	0xcd7
	syscall
	keepf
	cld
	and	$~0x100, %r11d
	keep	%rbx, %rcx, %rdx, %rsi, %rdi, %rbp, %r8, %r9, %r10, %r11, %r12, %r13, %r14
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
	movq	%xmm\n, %rax
	keep	%rax
	.endr
	mov	$3, %eax		/* close(-1) */
	mov	$-1, %edi
	syscall
	keep	%rax
	mov	$1, %eax		/* write(1, NULL, 5) */
	mov	$1, %edi
	xor	%esi, %esi
	mov	$5, %edx
	syscall
	keep	%rax
	mov	$9999, %eax
	syscall
	keep	%rax
	mov	$-1, %rax
	syscall
	keep	%rax
	.irp	sig, 9, 0, 65, 10, 9
	mov	$13, %eax		/* rt_sigaction: what cannot be read comes before what cannot be set */
	mov	$\sig, %edi
	mov	$1, %esi
	xor	%edx, %edx
	mov	$8, %r10d
	syscall
	keep	%rax
	mov	$13, %eax
	mov	$\sig, %edi
	lea	results(%rip), %rsi
	mov	$4, %r10d
	syscall
	keep	%rax
	.endr
	mov	$13, %eax
	mov	$9, %edi
	lea	results(%rip), %rsi
	mov	$8, %r10d
	syscall
	keep	%rax
	mov	$9, %eax		/* mmap, six arguments */
	mov	$0x10000000, %edi
	mov	$4096, %esi
	mov	$3, %edx
	mov	$0x32, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	syscall
	keep	%rax
	movq	$77, (%rax)
	mov	$11, %eax
	mov	$0x10000000, %edi
	mov	$4096, %esi
	syscall
	keep	%rax
	/* several in one block, and a loop of them */
	mov	$50, %ebx
1:	mov	$186, %eax
	syscall
	mov	$102, %eax
	syscall
	dec	%ebx
	jnz	1b
	keep	%rax
	/* a call whose number comes from memory, jumped to */
	mov	nr(%rip), %eax
	jmp	2f
	nop
2:	syscall
	test	%rax, %rax
	sets	%bl
	movzbl	%bl, %ebx
	keep	%rbx
	finish
	.data
nr:	.long	110
