/* A fault with all registers set: the handler sees each of them, the flags, the address of the
 * instruction, and the vector registers; then it edits them and goes on elsewhere. */
#include "run.inc"
#include "sig.inc"
	begin
	altstack
	handle	4, handler
	handle	11, handler
	handle	8, handler
	mov	%r15, out(%rip)
	mov	%rsp, home(%rip)
	.irp sig, ill, segv, fpe, gp, exec, inblock
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	mov	$\n * 0x1001 + 5, %eax
	movq	%rax, %xmm\n
	.endr
	lea	next_\sig(%rip), %rax
	mov	%rax, go_on(%rip)
	.irp r, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
	movabs	$0x1122334455667700 + (. - _start), %\r
	.endr
	flags	0xcd7
	jmp	do_\sig
next_\sig:
	.endr
	mov	out(%rip), %r15
	mov	home(%rip), %rsp
	finish
do_ill:	ud2
do_segv:
	mov	0x10, %rax
do_fpe:	mov	$0, %ecx
	div	%ecx
do_gp:	mov	(%rbx), %rax			/* not canonical: no address in CR2 */
do_exec:
	mov	$0x700000, %eax
	jmp	*%rax				/* nothing there: RIP is the target */
do_inblock:
	inc	%rbx
	add	%rbx, %rcx
	lea	7(%rcx), %rdx
	ror	$3, %rsi
	mov	0x20, %rax
	inc	%rbx
	ud2

handler:
	mov	out(%rip), %r15
	keep	%rdi
	mov	%rdx, %rbp
	/* r8 .. r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags; trapno, error, cr2 */
	lea	UC_R8(%rbp), %rsi
	mov	%r15, %rdi
	mov	$18, %ecx
	rep movsq
	mov	%rdi, %r15
	andq	$0xcd5, -8(%r15)
	mov	UC_TRAPNO(%rbp), %rax
	mov	UC_ERR(%rbp), %rbx
	keep	%rax, %rbx
	cmp	$14, %eax
	jne	1f
	mov	UC_CR2(%rbp), %rax
	keep	%rax
1:	mov	UC_FP(%rbp), %rsi
	add	$160, %rsi
	mov	%r15, %rdi
	mov	$32, %ecx
	rep movsq
	mov	%rdi, %r15
	mov	%r15, out(%rip)
	mov	go_on(%rip), %rax
	mov	%rax, UC_RIP(%rbp)
	mov	home(%rip), %rax
	mov	%rax, UC_RSP(%rbp)
	movq	$2, UC_EFL(%rbp)
	ret
	.data
out:	.quad	0
home:	.quad	0
go_on:	.quad	0
