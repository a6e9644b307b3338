/* exact: refuse=int|0x80
 * The 32-bit system call gate from 64-bit code. */
#include "run.inc"
	begin
	mov	$20, %eax
	mov	$5, %ebx
	mov	$0x1234, %r8d
	int	$0x80
	test	%eax, %eax
	setg	%al
	movzbl	%al, %eax
	keep	%rax, %rbx, %r8
	finish
