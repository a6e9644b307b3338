/* clzero through GS: AMD's, and rax is its only operand.		exact: needs=clzero */
#include "run.inc"
	begin
	mov	$158, %eax
	mov	$0x1001, %edi		/* ARCH_SET_GS */
	lea	memory(%rip), %rsi
	syscall
	mov	$64, %eax
	.byte	0x65
	clzero
	lea	memory(%rip), %rsi
	mov	%r15, %rdi
	mov	$192, %ecx
	rep movsb
	mov	%rdi, %r15
	finish
	.data
	.balign	64
memory:	.fill	24, 8, 0x1234567
