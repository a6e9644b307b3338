/* xlat, enter at several nesting levels, leave, and bound checks of their stack effects. */
#include "run.inc"
	begin
	lea	text(%rip), %rbx
	.irp n, 0, 5, 25
	mov	$\n, %eax
	xlatb
	keep	%rax
	.endr
	mov	$3, %eax
	addr32 xlatb
	keep	%rax
	.irp l, 0, 1, 2, 3, 7
	mov	%rsp, %r14
	mov	%rsp, %rbp
	push	$11
	push	$22
	push	$33
	enter	$64, $\l
	mov	%r14, %rax
	sub	%rsp, %rax
	mov	%r14, %rdx
	sub	%rbp, %rdx
	keep	%rax, %rdx
	mov	%rbp, %rax
	leave
	mov	%r14, %rdx
	sub	%rsp, %rdx
	keep	%rdx
	mov	%r14, %rsp
	.endr
	mov	%r15, %rax
	finish
	.data
text:	.ascii	"abcdefghijklmnopqrstuvwxyz"
