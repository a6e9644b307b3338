/* exact: ldflags=-Wl,-Ttext-segment=0x400000
 * Base, index, scale and displacement in all registers; absolute, 32-bit and 64-bit offsets. */
#include "run.inc"
	begin
	lea	table(%rip), %rbx
	.irp b, rax, rcx, rdx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14
	mov	%rbx, %\b
	addl	$1, (%\b)
	addl	$2, 8(%\b)
	addl	$0x1234567, 0x200(%\b)
	movq	-8(%\b), %mm0
	.endr
	mov	$3, %eax
	.irp i, rcx, rdx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14
	mov	$4, %\i
	.irp s, 1, 2, 4, 8
	add	%rax, (%rbx, %\i, \s)
	add	%rax, 16(%rbx, %\i, \s)
	add	%rax, 0x200(%rbx, %\i, \s)
	add	%rax, table(, %\i, \s)
	.endr
	.endr
	mov	%rsp, %r14
	mov	%rbx, %rsp
	add	%rax, (%rsp)
	add	%rax, 24(%rsp)
	add	%rax, 0x180(%rsp)
	mov	$2, %ecx
	add	%rax, (%rsp, %rcx, 8)
	mov	%r14, %rsp
	mov	%rbx, %r13
	add	%rax, (%r13, %rcx, 2)
	mov	%rbx, %r12
	add	%rax, (%r12)
	add	%rax, table
	addb	$5, table+3
	movabs	table, %rax
	keep	%rax
	movabs	%rax, table+32
	movabs	table+1, %al
	movabs	%ax, table+40
	movabs	table+4, %eax
	keep	%rax
	.byte	0x67, 0xa1
	.long	table+8
	keep	%rax
	lea	-1(%ebx), %edx
	addl	$7, 1(%edx)
	mov	$0x100000008, %rcx
	addl	$7, (%ebx, %ecx)
	addq	$7, 4(%ebx, %ecx, 2)
	/* segment prefixes that mean nothing, and a base of -1 */
	.byte	0x2e
	addl	$1, (%rbx)
	.byte	0x3e
	addl	$1, (%rbx)
	.byte	0x26
	addl	$1, (%rbx)
	.byte	0x36
	addl	$1, (%rbx)
	mov	$-1, %rcx
	add	%eax, table+1(%rcx)
	mov	$160, %ecx
	lea	table-64(%rip), %rsi
	mov	%r15, %rdi
	rep movsq
	mov	%rdi, %r15
	finish
	.data
	.skip	64
table:	.skip	2048, 0x5a
