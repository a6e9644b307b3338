/* setcc and cmovcc of every condition on every combination of flags, register and memory forms. */
#include "run.inc"
	begin
	xor	%ebx, %ebx
again:
	mov	%ebx, %eax
	and	$1, %eax
	mov	%ebx, %ecx
	and	$2, %ecx
	lea	(%rax, %rcx, 2), %eax
	mov	%ebx, %ecx
	and	$12, %ecx
	shl	$4, %ecx
	or	%ecx, %eax
	mov	%ebx, %ecx
	and	$16, %ecx
	shl	$7, %ecx
	or	%ecx, %eax
	push	%rax
	popfq
	.irp cc, o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g
	set\cc	%dl
	set\cc	byte(%rip)
	mov	$0x123456789, %rdi
	mov	$7, %esi
	cmov\cc	%esi, %edi
	cmov\cc	byte(%rip), %rsi
	lea	(%rdi, %rsi), %rdi
	movzbl	%dl, %edx
	lea	(%rdi, %rdx), %rdi
	lea	(%rdi, %rbp, 2), %rbp
	.endr
	keepf
	keep	%rbp
	inc	%ebx
	cmp	$32, %ebx
	jne	again
	finish
	.data
byte:	.quad	0x0102030405060708
