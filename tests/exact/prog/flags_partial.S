/* Instructions that write some flags only, with the others live over block ends: inc/dec keep CF,
 * shifts by zero keep all, bit tests write CF only. */
#include "run.inc"
	begin
	/* a 256-bit addition whose loop counter must not disturb CF */
	lea	a(%rip), %rsi
	lea	b(%rip), %rdi
	mov	$4, %ecx
	xor	%ebx, %ebx
1:	mov	(%rsi, %rbx, 8), %rax
	adc	(%rdi, %rbx, 8), %rax
	lea	1(%rbx), %rbx
	keep	%rax
	dec	%ecx
	jnz	1b
	keepf
	mov	$100, %ecx
	stc
2:	adc	%rax, %rdx
	dec	%rcx
	jnz	2b
	keep	%rdx
	keepf
	.irp f, 2, 0xcd7, 0x81
	.irp i, "inc %eax", "dec %al", "bt $3, %eax", "bts $5, %eax", "clc", "stc", "cmc", "shl $0, %eax"
	flags	\f
	\i
	jmp	3f
3:	keepf
	.endr
	.irp n, 0, 1
	.irp i, shl, shr, sar, rol, ror
	mov	$\n, %ecx
	mov	$0x80000001, %eax
	flags	\f
	\i	%cl, %eax
	jmp	3f
3:	keepf	0xcc5
	keep	%rax
	.endr
	mov	$\n, %ecx
	flags	\f
	rcl	%cl, %eax
	jz	3f
	nop
3:	rcr	%cl, %rax
	keepf	0x4d5
	.endr
	mov	$0, %ecx
	flags	\f
	rep scasb
	keepf
	mov	$0, %ecx
	flags	\f
	repne cmpsb
	jmp	3f
3:	keepf
	cld
	.endr
	/* lahf and sahf */
	.irp f, 2, 0xd7
	flags	\f
	mov	$0, %eax
	lahf
	jmp	4f
4:	keep	%rax
	xor	$0xd500, %eax
	sahf
	keepf
	.endr
	finish
	.data
a:	.quad	-1, -1, 5, 0x7fffffffffffffff
b:	.quad	1, 0, -6, 1
