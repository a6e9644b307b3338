/* Threads by clone without a C library: eight in turn and four at once, each with its own count; the
 * first thread waits by reading a pipe, which is one system call however long it takes. */
#include "run.inc"
	.macro	spawn n
	mov	$56, %eax
	mov	$0x10f00, %edi			/* VM FS FILES SIGHAND THREAD */
	lea	stacks + (\n + 1) * 4096(%rip), %rsi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	mov	$\n, %ebx
	syscall
	test	%eax, %eax
	jz	work
	.endm
	.macro	wait
	xor	%eax, %eax
	mov	pipe(%rip), %edi
	lea	byte(%rip), %rsi
	mov	$1, %edx
	syscall
	.endm
	begin
	mov	$22, %eax
	lea	pipe(%rip), %rdi
	syscall
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	spawn	\n
	wait
	.endr
	.irp n, 8, 9, 10, 11
	spawn	\n
	.endr
	.rept	4
	wait
	.endr
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	mov	sums + 8 * \n(%rip), %rax
	keep	%rax
	.endr
	mov	total(%rip), %rax
	keep	%rax
	finish	0, 60				/* the last worker comes to its own end, too */
work:	lea	100(, %rbx, 8), %ecx
1:	add	%rcx, %rax
	lock incq total(%rip)
	push	%rax
	call	2f
	pop	%rdx
	loop	1b
	lea	sums(%rip), %rdx
	mov	%rax, (%rdx, %rbx, 8)
	mov	$1, %eax
	mov	pipe+4(%rip), %edi
	lea	byte(%rip), %rsi
	mov	$1, %edx
	syscall
	mov	$60, %eax
	xor	%edi, %edi
	syscall
2:	ret
	.bss
	.balign	4096
	.skip	4096
stacks:	.skip	13 * 4096
pipe:	.quad	0
byte:	.quad	0
sums:	.skip	128
total:	.quad	0
