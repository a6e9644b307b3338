/* Code made at run time in a mapped buffer: written, run, rewritten at the same address, moved,
 * unmapped and mapped again with other contents, without any other sign than the stores. */
#include "run.inc"
	.macro	map at, prot
	mov	$9, %eax
	mov	$\at, %edi
	mov	$8192, %esi
	mov	$\prot, %edx
	mov	$0x32, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	syscall
	.endm
	.macro	protect at, prot
	mov	$10, %eax
	mov	$\at, %edi
	mov	$8192, %esi
	mov	$\prot, %edx
	syscall
	.endm
	begin
	map	0x10000000, 7
	mov	$0x10000000, %r12d
	xor	%ebx, %ebx
	mov	$30, %r13d
1:	/* mov $imm32, %eax; ret */
	movb	$0xb8, (%r12)
	mov	%r13d, 1(%r12)
	movb	$0xc3, 5(%r12)
	call	*%r12
	add	%rax, %rbx
	call	*%r12
	add	%rax, %rbx
	dec	%r13d
	jnz	1b
	keep	%rbx
	/* a longer piece, grown by one instruction each time and called after each */
	mov	$20, %r13d
	lea	64(%r12), %rdi
2:	movl	$0xc3c3ff48, (%rdi)		/* inc %rbx; ret */
	lea	3(%rdi), %rdi
	lea	64(%r12), %rax
	call	*%rax
	dec	%r13d
	jnz	2b
	keep	%rbx
	/* write, then make executable and not writable; several times over */
	map	0x20000000, 3
	mov	$5, %r13d
3:	mov	$0x20000000, %r12d
	movb	$0xb8, (%r12)
	mov	%r13d, 1(%r12)
	movb	$0xc3, 5(%r12)
	protect	0x20000000, 5
	call	*%r12
	add	%rax, %rbx
	protect	0x20000000, 3
	dec	%r13d
	jnz	3b
	keep	%rbx
	/* unmapped, and other code at the same address */
	mov	$4, %r13d
4:	mov	$11, %eax
	mov	$0x20000000, %edi
	mov	$8192, %esi
	syscall
	map	0x20000000, 7
	mov	$0x20000000, %r12d
	movb	$0xb8, (%r12)
	mov	%r13d, 1(%r12)
	movb	$0xc3, 5(%r12)
	call	*%r12
	add	%rax, %rbx
	dec	%r13d
	jnz	4b
	keep	%rbx
	/* mapped over without being unmapped (MAP_FIXED) */
	map	0x20000000, 7
	movb	$0xc3, (%r12)
	call	*%r12
	/* moved by mremap */
	mov	$25, %eax
	mov	$0x20000000, %edi
	mov	$8192, %esi
	mov	$8192, %edx
	mov	$3, %r10d
	mov	$0x30000000, %r8d
	syscall
	keep	%rax
	call	*%rax
	/* written by the kernel: read from a pipe into code already run */
	mov	$22, %eax
	lea	pipe(%rip), %rdi
	syscall
	mov	$1, %eax
	mov	pipe+4(%rip), %edi
	lea	code(%rip), %rsi
	mov	$6, %edx
	syscall
	mov	$0x10000000, %r12d
	call	*%r12
	xor	%eax, %eax
	mov	pipe(%rip), %edi
	mov	%r12, %rsi
	mov	$6, %edx
	syscall
	call	*%r12
	keep	%rax
	/* by rep movs, over code already run */
	lea	code2(%rip), %rsi
	mov	%r12, %rdi
	mov	$6, %ecx
	rep movsb
	call	*%r12
	keep	%rax
	/* by a vector store and a locked one */
	movups	code(%rip), %xmm0
	movups	%xmm0, (%r12)
	call	*%r12
	keep	%rax
	mov	$0x55, %eax
	lock addl %eax, 1(%r12)
	call	*%r12
	keep	%rax
	finish
	.data
pipe:	.long	0, 0
code:	.byte	0xb8, 0x78, 0x56, 0x34, 0x12, 0xc3
	.skip	10
code2:	.byte	0xb8, 0x99, 0x88, 0x77, 0x66, 0xc3
