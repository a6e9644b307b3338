/* The registers, flags, stack words and vector state that a program finds at its first instruction. */
	.globl _start
_start:
	pushfq
	mov	%r15, save(%rip)
	lea	area(%rip), %r15
#define K(r) mov r, (%r15); lea 8(%r15), %r15
	K(%rax); K(%rbx); K(%rcx); K(%rdx); K(%rsi); K(%rdi); K(%rbp); K(%rsp)
	K(%r8); K(%r9); K(%r10); K(%r11); K(%r12); K(%r13); K(%r14)
	mov	save(%rip), %rax
	K(%rax)
	pop	%rax
	K(%rax)
	/* argc, argv, environment; not the 16 random bytes' content, but where they lie */
	mov	%rsp, %rsi
	mov	%r15, %rdi
	mov	$96, %ecx
	rep movsq
	mov	%rdi, %r15
	fxsave64 (%r15)
	movq	$0, 8(%r15)
	add	$512, %r15
	mov	%fs, %eax
	K(%rax)
	mov	%gs, %eax
	K(%rax)
	mov	%ss, %eax
	K(%rax)
	mov	%cs, %eax
	K(%rax)
	mov	$1, %eax
	mov	$1, %edi
	lea	area(%rip), %rsi
	mov	%r15, %rdx
	sub	%rsi, %rdx
	syscall
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.bss
	.balign 64
save:	.quad	0
	.balign 64
	.skip	8
area:	.skip	4096
