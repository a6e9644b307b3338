/* ret with an immediate: 0, small, large, odd; with the flags live over it. */
#include "run.inc"
	begin
	.irp n, 0, 8, 16, 64, 4096
	mov	%rsp, %rbx
	sub	$\n, %rsp
	flags	0xcd7
	call	1f
	keepf
	cld
	sub	%rsp, %rbx
	keep	%rbx
	add	%rbx, %rsp
	jmp	2f
1:	ret	$\n
2:
	.endr
	/* odd, and at the top of what 16 bits can say; the stack pointer is put back by hand */
	.irp n, 3, 0xffff, 0x8000
	mov	%rsp, %rbx
	sub	$0x20000, %rsp
	call	1f
	mov	%rsp, %rax
	sub	%rbx, %rax
	mov	%rbx, %rsp
	keep	%rax
	jmp	2f
1:	ret	$\n
2:
	.endr
	/* rep ret, bnd ret, and nested */
	call	1f
	mov	$30, %ecx
3:	push	%rcx
	push	$1
	call	4f
	pop	%rcx
	loop	3b
	keep	%rdx
	finish
1:	.byte	0xf3
	ret
4:	push	$7
	call	5f
	ret	$8
5:	inc	%edx
	ret	$8
