/* int3, in both its forms, handled with SIGTRAP blocked and not, and a signal sent by the program to itself: both are taken behind the instruction. */
#include "run.inc"
#include "sig.inc"
	begin
	altstack
	handle	5, handler, SA_NODEFER
	handle	10, handler
	.rept	3
	int3
	.endr
	jmp	1f
1:	int3
	.byte	0xcd, 3				/* int 3 */
	nop
	.byte	0xcd, 3, 0xcd, 3
	jmp	1f
1:	.byte	0x48, 0xcd, 3
	mov	$39, %eax
	syscall
	mov	%eax, %ebx
	.rept	3
	mov	%ebx, %edi
	mov	$62, %eax
	mov	$10, %esi
	syscall
	.endr
	handle	5, handler			/* blocked in it */
	.rept	3
	int3
	.endr
	keep	%rax
	finish
handler:
	lea	_start(%rip), %rax
	mov	UC_RIP(%rdx), %rcx
	sub	%rax, %rcx
	mov	%rcx, (%r15)
	mov	UC_EFL(%rdx), %rcx
	and	$0xcd5, %ecx
	mov	%rcx, 8(%r15)
	mov	%rdi, 16(%r15)
	mov	8(%rsi), %eax			/* si_code */
	mov	%rax, 24(%r15)
	mov	UC_R8 + 56(%rdx), %rcx		/* r15 is put back on return: move it there */
	add	$32, %rcx
	mov	%rcx, UC_R8 + 56(%rdx)
	ret
