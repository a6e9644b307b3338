/* exact: needs=fsgsbase
 * The program's own fs and gs: bases set by arch_prctl and by wrfsbase/wrgsbase, read back, used as
 * every kind of operand, across calls, system calls and indirect jumps. */
#include "run.inc"
	.macro	base code, value
	mov	$158, %eax
	mov	$\code, %edi
	mov	$\value, %rsi
	syscall
	keep	%rax
	.endm
	.macro	use seg
	mov	%\seg:0, %rax
	mov	%\seg:8, %ecx
	keep	%rax, %rcx
	mov	$2, %edx
	addq	$5, %\seg:16
	mov	%\seg:(, %rdx, 8), %rax
	keep	%rax
	lock addq $3, %\seg:16
	push	%\seg:16
	pop	%\seg:24
	xchg	%rax, %\seg:24
	cmpq	$8, %\seg:16
	jne	1f
	nop
1:	keepf
	mov	$0x10, %ebx
	movups	%\seg:(%rbx), %xmm0
	movq	%xmm0, %rax
	keep	%rax
	lea	2f(%rip), %rax
	mov	%rax, %\seg:32
	jmp	*%\seg:32
2:	lea	sub(%rip), %rax
	mov	%rax, %\seg:32
	call	*%\seg:32
	mov	$32, %ebx
	call	*%\seg:(%rbx)
	push	%r15
	pop	%rdi
	mov	$0, %esi
	mov	$4, %ecx
	rep movsq %\seg:(%rsi), (%rdi)
	mov	%rdi, %r15
	mov	$8, %esi
	lodsq	%\seg:(%rsi)
	keep	%rax
	cmpxchg	%rax, %\seg:0
	keepf
	movabs	%\seg:8, %rax
	keep	%rax
	mov	$39, %eax
	syscall
	mov	%\seg:0, %rax
	keep	%rax
	.endm
	begin
	base	0x1002, areaf
	base	0x1001, areag
	use	fs
	use	gs
	rdfsbase %rax
	rdgsbase %rbx
	keep	%rax, %rbx
	lea	areag+64(%rip), %rax
	wrfsbase %rax
	lea	areaf+64(%rip), %rax
	wrgsbase %rax
	use	fs
	use	gs
	mov	$158, %eax		/* ARCH_GET_FS, ARCH_GET_GS */
	mov	$0x1003, %edi
	lea	got(%rip), %rsi
	syscall
	mov	$158, %eax
	mov	$0x1004, %edi
	lea	got+8(%rip), %rsi
	syscall
	mov	got(%rip), %rax
	mov	got+8(%rip), %rbx
	keep	%rax, %rbx
	/* bases of zero, then of odd addresses */
	xor	%eax, %eax
	wrgsbase %rax
	lea	areaf(%rip), %rbx
	mov	%gs:(%rbx), %rax
	mov	%fs:-8, %rcx
	keep	%rax, %rcx
	lea	areag+3(%rip), %rax
	wrgsbase %rax
	mov	%gs:5, %rax
	keep	%rax
	mov	$0x1122334455, %rax
	wrfsbase %rax
	wrgsbase %eax
	rdfsbase %ebx
	rdgsbase %rcx
	keep	%rbx, %rcx
	/* below 0, which arch_prctl refuses */
	mov	$-64, %rax
	wrgsbase %rax
	lea	areag+64(%rip), %rbx
	mov	%gs:8(%rbx), %rax
	rdgsbase %rcx
	keep	%rax, %rcx
	mov	%gs:16(%rbx), %rax
	keep	%rax
	base	0x1001, areag
	base	0x1001, 0x7fffffffefff
	base	0x1001, 0x7ffffffff000
	base	0x1001, 0x800000000000
	base	0x1001, 0xffff800000000000
	base	0x1001, -1
	rdgsbase %rax
	keep	%rax
	base	0x1001, areag
	base	0x1001, -64
	mov	%gs:8, %rax
	keep	%rax
	base	0x1002, 0x7ffffffff000
	base	0x1002, -1
	rdfsbase %rax
	keep	%rax
	finish
sub:	ret
	.data
	.balign	64
areaf:	.quad	0x1111, 0x2222, 0x3333, 0x4444, 0, 0, 0, 0
	.quad	0xa111, 0xa222, 0xa333, 0xa444, 0, 0, 0, 0
areag:	.quad	0x5555, 0x6666, 0x7777, 0x8888, 0, 0, 0, 0
	.quad	0xb555, 0xb666, 0xb777, 0xb888, 0, 0, 0, 0
got:	.quad	0, 0
