/* Every jcc, short and near, with every combination of the flags it can look at. */
#include "run.inc"
	begin
	xor	%r14d, %r14d
	xor	%ebx, %ebx
again:
	/* bits of rbx 0..4 -> CF PF ZF SF OF */
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
	mov	%eax, %ebp
	.irp cc, o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g
	push	%rbp
	popfq
	j\cc	1f
	lea	1(%r14), %r14
1:	j\cc	2f
	lea	(%r14, %r14), %r14
	j\cc	2f
	jmp	2f
	.skip	200, 0x90
2:	lea	(%r14, %r14, 2), %r14
	.endr
	keepf
	keep	%r14
	inc	%ebx
	cmp	$32, %ebx
	jne	again
	finish
