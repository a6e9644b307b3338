/* rsp as a general register: arithmetic on it, addresses that are no stack, zero, through every block
 * end that does not itself use the stack. */
#include "run.inc"
	begin
	mov	%rsp, home(%rip)
	mov	$5, %esp
	add	$7, %rsp
	imul	$3, %rsp, %rsp
	keep	%rsp
	mov	$10, %ecx
1:	lea	3(%rsp, %rcx), %rsp
	dec	%ecx
	jnz	1b
	keep	%rsp
	xor	%esp, %esp
	jz	2f
	nop
2:	lea	3f(%rip), %rsp
	jmp	*%rsp
3:	lea	table(%rip), %rsp
	jmp	*(%rsp)
4:	jmp	*8(%rsp)
5:	mov	$2, %ecx
	jmp	*(%rsp, %rcx, 8)
6:	mov	$102, %eax
	syscall
	keep	%rcx
	mov	$0x123456789abc, %rsp
	mov	$102, %eax
	syscall
	keep	%rsp
	mov	$3, %ecx
7:	loop	7b
	cmp	%rsp, %rax
	jb	8f
	nop
8:	xadd	%rsp, %rax
	keep	%rax, %rsp
	xchg	%rsp, %rbp
	bswap	%rbp
	keep	%rsp, %rbp
	lea	data(%rip), %rsp
	add	%rsp, 8(%rsp)
	movups	(%rsp), %xmm0
	cmpxchg	%rsp, (%rsp)
	mov	%rsp, %rdi
	mov	%rsp, %rsi
	mov	$8, %ecx
	rep movsb
	sub	%rsp, %rdi
	keep	%rdi
	mov	$7, %spl
	movzwl	%sp, %eax
	and	$0xff, %eax
	keep	%rax
	mov	home(%rip), %rsp
	/* a stack in the middle of data, grown over by calls */
	lea	data+128(%rip), %rsp
	call	9f
	push	$1
	pop	%rax
	pushfq
	popfq
	jmp	10f
9:	ret
10:	mov	home(%rip), %rsp
	finish
	.data
	.balign	64
data:	.skip	128
	.skip	64
home:	.quad	0
table:	.quad	4b, 5b, 6b
