/* mul, imul, div, idiv of every width, and the sign extensions that go with them. */
#include "run.inc"
	begin
	.irp v, 7, -3, 0x123456789, 0x7fffffffffffffff
	movabs	$\v, %rbx
	.irp i, mul, imul
	.irp r, %bl, %bx, %ebx, %rbx
	mov	$0x1122334455667788, %rax
	mov	$0x55, %edx
	\i	\r
	keepf	0x801
	keep	%rax, %rdx
	.endr
	.endr
	imul	%rbx, %rax
	keepf	0x801
	imul	$-7, %rbx, %rcx
	imul	$0x1234, %ebx, %edx
	imul	word(%rip), %si
	keep	%rax, %rcx, %rdx, %rsi
	mov	$77777, %eax
	cltq
	cqto
	idiv	%rbx
	keep	%rax, %rdx
	mov	$-77777, %rax
	cqto
	idiv	%rbx
	keep	%rax, %rdx
	xor	%edx, %edx
	mov	$99, %eax
	div	%rbx
	keep	%rax, %rdx
	mov	$99, %eax
	movb	$9, word(%rip)
	divb	word(%rip)
	keep	%rax
	mov	$-99, %ax
	cwtd
	mov	$10, %cx
	idiv	%cx
	keep	%rax, %rdx
	.endr
	.irp i, cbtw, cwtl, cltq, cwtd, cltd, cqto
	mov	$0x80, %eax
	\i
	keep	%rax, %rdx
	mov	$0xffff8080, %eax
	\i
	keep	%rax, %rdx
	.endr
	finish
	.data
word:	.quad	0x109
