/*
 * The alignment check: a program that sets AC goes on in new code, makes system calls, and has SIGBUS for what is misaligned,
 * which a handler steps over, with AC in force, and once takes off.
 */
#include "run.inc"
	.macro	misaligned insn:vararg
	movl	$(2f - 1f), length(%rip)
1:	\insn
2:	inc	%ebx
	.endm
	begin
	mov	$13, %eax		/* rt_sigaction */
	mov	$7, %edi		/* SIGBUS */
	lea	action(%rip), %rsi
	xor	%edx, %edx
	mov	$8, %r10d
	syscall
	xor	%ebx, %ebx
	pushfq
	orl	$0x40000, (%rsp)
	popfq
	misaligned mov data+1(%rip), %rax
	add	%ebx, %ecx
	misaligned incl data+3(%rip)
	lea	3f(%rip), %rax
	jmp	*%rax
3:	misaligned push data+2(%rip)
	call	4f
	jmp	5f
4:	misaligned addq $5, data+4(%rip)
	ret
5:	mov	$39, %eax
	syscall
	misaligned jmp *data+1(%rip)
	misaligned call *data+1(%rip)
	mov	$10, %ecx
6:	movw	%cx, data+1(%rip)	/* each by itself */
	nop
7:	loop	6b
	pushfq
	pop	%rax
	and	$0x40000, %eax
	movl	$1, off(%rip)
	misaligned mov data+1(%rip), %rcx
	pushfq
	pop	%rdx
	and	$0x40000, %edx
	mov	data+1(%rip), %rcx
	keep	%rax, %rbx, %rdx, %rcx, %rsp
	finish
handler:
	mov	length(%rip), %eax
	cmpl	$10, 152(%rdx)		/* rcx in the ucontext: in the loop */
	ja	8f
	lea	6b(%rip), %rcx
	cmp	%rcx, 168(%rdx)
	jne	8f
	mov	$(7b - 6b - 1), %eax
8:	add	%rax, 168(%rdx)		/* rip */
	cmpl	$0, off(%rip)
	je	9f
	andl	$~0x40000, 176(%rdx)	/* flags */
9:	ret
restorer:
	mov	$15, %eax
	syscall
	.data
	.balign	16
data:	.quad	0x1122334455667788, 3, 0
action:	.quad	handler, 0x04000004, restorer, 0	/* SA_RESTORER | SA_SIGINFO */
length:	.long	0
off:	.long	0
