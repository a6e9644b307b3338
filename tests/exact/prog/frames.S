/* Frames that a walk along the frame pointer follows, three deep and back; one that does not lead to code; one not aligned. */
#include "run.inc"
	begin
	xor	%ebp, %ebp
	call	first
	keep	%rax
	mov	%rsp, %rbp		/* what lies there is no caller */
	nop
	lea	1(%rsp), %rbp
	nop
	finish

first:	push	%rbp
	mov	%rsp, %rbp
	sub	$24, %rsp
	call	second
	leave
	ret

second:	push	%rbp
	mov	%rsp, %rbp
	call	third
	std
	nop
	cld
	pop	%rbp
	ret

third:	push	%rbp
	mov	%rsp, %rbp
	mov	$7, %eax
	pop	%rbp
	ret
