/* exact: ldflags=-Wl,-z,execstack
 * Code on the stack, as trampolines put it: made, run, and made anew in the same place. */
#include "run.inc"
	begin
	mov	$20, %r13d
	xor	%ebx, %ebx
1:	sub	$64, %rsp
	movb	$0xb8, (%rsp)
	mov	%r13d, 1(%rsp)
	movb	$0xc3, 5(%rsp)
	mov	%rsp, %rax
	call	*%rax
	add	%rax, %rbx
	add	$64, %rsp
	dec	%r13d
	jnz	1b
	keep	%rbx
	finish
