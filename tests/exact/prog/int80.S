/* exact: compare=output reason=some_kernels_have_no_32-bit_calls
 * The 32-bit system call gate from 64-bit code, for a harmless call. */
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
