/*
 * A lock prefix before what cannot be locked is an invalid instruction, branches and system calls among them: a handler steps
 * over each, and none is executed or counted.
 */
#include "run.inc"
	.macro	invalid bytes:vararg
	movl	$(2f - 1f), length(%rip)
1:	.byte	0xf0, \bytes
2:	inc	%ebx
	.endm
	begin
	mov	$13, %eax		/* rt_sigaction */
	mov	$4, %edi		/* SIGILL */
	lea	action(%rip), %rsi
	xor	%edx, %edx
	mov	$8, %r10d
	syscall
	xor	%ebx, %ebx
	lea	targets(%rip), %rdi
	mov	$39, %eax
	invalid	0xeb, 0x02
	invalid	0xe9, 2, 0, 0, 0
	invalid	0x74, 0x02
	invalid	0x0f, 0x85, 2, 0, 0, 0
	invalid	0xe2, 0x02
	invalid	0xe3, 0x02
	invalid	0xe8, 2, 0, 0, 0
	invalid	0xff, 0x27
	invalid	0xff, 0x17
	invalid	0xff, 0xe7
	invalid	0xc3
	invalid	0xc2, 8, 0
	invalid	0x0f, 0x05
	invalid	0xcd, 0x80
	invalid	0xff, 0x2f
	invalid	0xcb
	invalid	0x8e, 0xe8
	invalid	0x90
	invalid	0x89, 0x07
	invalid	0xc7, 0xf8, 2, 0, 0, 0
	keep	%rax, %rbx, %rsp
	finish
handler:
	mov	length(%rip), %eax
	add	%rax, 168(%rdx)		/* rip in the ucontext */
	ret
restorer:
	mov	$15, %eax
	syscall
	.data
action:	.quad	handler, 0x04000004, restorer, 0	/* SA_RESTORER | SA_SIGINFO */
length:	.long	0
	.balign	8
targets: .quad	restorer, 0
