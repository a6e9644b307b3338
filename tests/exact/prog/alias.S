/* Values in registers that look like addresses of code, and a run of blocks that differ only in their
 * high address bits: mapped code at several places, called in turn. */
#include "run.inc"
	begin
	.irp n, 1, 2, 3, 4, 5, 6, 7, 8
	mov	$9, %eax
	movabs	$0x10000000 * \n + 0x100000000 * (\n & 3), %rdi
	mov	$4096, %esi
	mov	$7, %edx
	mov	$0x32, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	syscall
	movb	$0x48, (%rax)
	movb	$0x48, (%rax)
	movb	$0x83, 1(%rax)
	movb	$0xc3, 2(%rax)			/* add $n, %rbx */
	movb	$\n, 3(%rax)
	movb	$0xc3, 4(%rax)
	.endr
	mov	$20, %r13d
1:	.irp n, 1, 2, 3, 4, 5, 6, 7, 8
	movabs	$0x10000000 * \n + 0x100000000 * (\n & 3), %rdi
	call	*%rdi
	.endr
	dec	%r13d
	jnz	1b
	keep	%rbx
	finish
