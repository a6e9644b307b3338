/* Segment registers read and written as user code may; mov to ss holds the next trap back. */
#include "run.inc"
	begin
	mov	%ss, %eax
	mov	%ax, %bx
	.rept	5
	mov	%ebx, %ss
	inc	%edx
	.endr
	mov	%ebx, %ss
	lea	1f(%rip), %rcx
1:	mov	%ds, %eax
	mov	%es, %ecx
	mov	%cs, %esi
	keep	%rax, %rcx, %rsi, %rdx, %rbx
	xor	%eax, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%ebx, %ds
	mov	%ds, %eax
	keep	%rax
	mov	$0, %eax
	mov	%eax, %ds
	mov	$0x2b, %ecx
	verr	%cx
	keepf	0x40
	lar	%cx, %edx
	keepf	0x40
	keep	%rdx
	lsl	%ecx, %edx
	keep	%rdx
	mov	%ss, sel(%rip)
	mov	sel(%rip), %ss
	nop
	push	%rax
	pop	%rax
	finish
	.data
sel:	.word	0
