/* Jumps into the middle of instructions, and blocks that overlap. */
#include "run.inc"
	begin
	mov	$2, %r12d
again:
	xor	%eax, %eax
	jmp	1f + 1
1:	mov	$0x04eb9090, %eax	/* read from its second byte: nop; nop; jmp .+4 */
	.byte	0x0f, 0x0b, 0x0f, 0x0b
	inc	%edx
	keep	%rax
	jmp	2f
2:	mov	$0x9001eb40, %eax	/* whole, then from inside */
	keep	%rax
	cmp	$100, %edx
	ja	3f
	add	$100, %edx
	jmp	2b + 2			/* jmp over the nop */
3:	/* a lock prefix jumped over */
	test	$1, %edx
	jz	4f
	.byte	0xeb, 0x01
4:	lock
	addl	$1, word(%rip)
	mov	word(%rip), %eax
	keep	%rax
	/* a loop entered at three points, whose blocks overlap */
	mov	$3, %ebx
5:	mov	$4, %ecx
	cmp	$2, %ebx
	je	in2
	jb	in3
in1:	inc	%esi
in2:	inc	%edi
in3:	inc	%ebp
	dec	%ecx
	jnz	in1
	dec	%ebx
	jnz	5b
	keep	%rsi, %rdi, %rbp
	/* two decodings of the same bytes, both run */
	mov	$6, %ecx
6:	test	$1, %ecx
	jz	7f
	jmp	8f
7:	.byte	0xb8			/* mov $imm32, %eax with 8: inside */
8:	.byte	0x83, 0xc2, 0x01, 0x90	/* add $1, %edx; nop */
	loop	6b
	keep	%rdx
	dec	%r12d
	jnz	again
	finish
	.data
word:	.long	0
