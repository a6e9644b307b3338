/* EIP-relative operands: an address-size prefix cuts the address to 32 bits. */
#include "run.inc"
	begin
	mov	word(%eip), %rax
	addl	$0x01020304, word(%eip)
	keep	%rax
	lea	word(%eip), %rbx
	lea	word(%rip), %rcx
	sub	%rcx, %rbx
	keep	%rbx
	cmpw	$7, word(%eip)
	keepf
	movups	word(%eip), %xmm0
	movq	%xmm0, %rax
	keep	%rax
	/* a REX that another prefix follows means nothing */
	.byte	0x4f, 0x67, 0x8b, 0x05
	.long	word - 2f
2:	keep	%rax
	.byte	0x67, 0x4d, 0xf0, 0x01, 0x05
	.long	word - 2f
2:	mov	word(%rip), %rax
	keep	%rax
	/* high byte registers, which no REX can stand beside; registers used without being named */
	mov	$0x1234, %edx
	mov	$0x5678, %ebx
	mov	$3, %edi
	mov	$4, %esi
	add	%dh, word(%eip)
	xchg	%bh, word+1(%eip)
	add	%edi, word(%eip)
	add	word(%eip), %esi
	mull	word(%eip)
	keep	%rax, %rbx, %rdx, %rsi, %rdi
	xor	%eax, %eax
	cmpxchg	%edi, word+8(%eip)
	keepf
	jmp	*go(%eip)
	ud2
1:	finish
	.data
word:	.quad	0x1122334455667788, 5
go:	.quad	1b
