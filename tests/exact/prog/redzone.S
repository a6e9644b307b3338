/* The 128 bytes under the stack pointer belong to the program: nothing may be pushed there across
 * any block end, rep, system call or vector code. */
#include "run.inc"
	.macro	check
	.irp n, 8, 16, 24, 32, 64, 104, 120, 128
	mov	-\n(%rsp), %rax
	keep	%rax
	.endr
	.endm
	begin
	.irp n, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128
	movq	$\n * 3, -\n(%rsp)
	.endr
	mov	$4, %ecx
1:	add	%rax, %rbx
	jo	2f
2:	dec	%ecx
	jnz	1b
	check
	lea	3f(%rip), %rdx
	jmp	*%rdx
3:	check
	mov	$39, %eax
	syscall
	check
	mov	$3, %ecx
4:	loop	4b
	lea	5f(%rip), %rdx
	cmp	%rdx, %rax
	jmp	*%rdx
5:	seta	%al
	check
	xor	%ecx, %ecx
	jrcxz	6f
6:	lea	t(%rip), %rdx
	stc
	jmp	*(%rdx)
7:	adc	$0, %rax
	check
	mov	%r15, %rdi
	mov	%r15, %rsi
	mov	$5, %ecx
	rep lodsb
	rdtsc
	xgetbv
	check
	finish
	.data
t:	.quad	7b
