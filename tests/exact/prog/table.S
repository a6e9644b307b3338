/* Indirect jumps: through tables, absolute and relative, by every register, and with more targets than the first buckets are for. */
#include "run.inc"
	begin
	mov	$64, %r14d
1:	mov	%r14d, %eax
	and	$15, %eax
	jmp	*jumps(, %rax, 8)
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
case\n:	add	$\n * 3 + 1, %rdx
	jmp	join
	.endr
join:	mov	%r14d, %eax
	and	$3, %eax
	lea	rel(%rip), %rbx
	movslq	(%rbx, %rax, 4), %rax
	add	%rbx, %rax
	jmp	*%rax
r0:	add	$100, %rdx
r1:	add	$1000, %rdx
r2:	add	$10000, %rdx
r3:	dec	%r14d
	jnz	1b
	keep	%rdx
	.irp r, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14
	lea	2f(%rip), %\r
	flags	0xcd7
	jmp	*%\r
	ud2
2:	keepf
	cld
	lea	3f(%rip), %\r
	push	%\r
	jmp	*(%rsp)
	ud2
3:	pop	%\r
	lea	sub(%rip), %\r
	call	*%\r
	push	%\r
	call	*(%rsp)
	mov	%rsp, %\r
	call	*(%\r)
	pop	%\r
	.endr
	/* one jump site, 300 targets, each three times: a hash of targets must overflow somewhere */
	mov	$3, %ebp
4:	xor	%ebx, %ebx
5:	lea	many(%rip), %rax
	mov	%rbx, %rcx
	shl	$4, %rcx
	add	%rcx, %rax
	jmp	*%rax
back:	inc	%ebx
	cmp	$700, %ebx
	jne	5b
	dec	%ebp
	jnz	4b
	keep	%rsi
	finish
sub:	ret
	.balign	16
many:	.rept	700
	lea	1(%rsi, %rbx), %rsi
	jmp	back
	.balign	16
	.endr
	.data
	.balign	8
jumps:	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	.quad	case\n
	.endr
rel:	.long	r0 - rel, r1 - rel, r2 - rel, r3 - rel
