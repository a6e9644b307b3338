/* A fault at each of 40 places of a block, stepped over by the handler: the instructions before it
 * have run once, those behind it not yet, and the count is that of the path taken. */
#include "run.inc"
#include "sig.inc"
	begin
	altstack
	handle	11, handler
	xor	%r12d, %r12d
again:	mov	$0x1000, %eax
	lea	good(%rip), %rbx
	xor	%ecx, %ecx
	xor	%edx, %edx
	flags	0xcd7
	.set	n, 0
	.rept	40
	lea	1(%rcx), %rcx
	cmp	$n, %r12d
	cmove	%rdx, %rbx			/* NULL at one place only */
	adc	%rcx, (%rbx)			/* may fault, with flags that matter */
	lea	good(%rip), %rbx
	.set	n, n + 1
	.endr
	keepf
	keep	%rcx, %rdx
	inc	%r12d
	cmp	$41, %r12d
	jne	again
	mov	good(%rip), %rax
	keep	%rax
	mov	faults(%rip), %rax
	keep	%rax
	finish
handler:
	incq	faults(%rip)
	lea	good(%rip), %rax
	mov	%rax, UC_R8 + 88(%rdx)		/* rbx: the instruction runs again */
	ret
	.data
good:	.quad	0
faults:	.quad	0
