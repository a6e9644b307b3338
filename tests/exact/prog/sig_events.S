/* SPDX-License-Identifier: MIT */
/* A fault in a block that adds to eight classes while flags are live: with as many events sampled its code begins with more than 255 bytes. */
#include "run.inc"
#include "sig.inc"
	begin
	altstack
	handle	11, handler
	mov	$20, %ebx
again:	xor	%edi, %edi
	stc
	jmp	block
block:	nop
	mov	(%rdi), %eax
	lock incl place(%rip)
	call	*where(%rip)
	keep	%rax
	dec	%ebx
	jnz	again
	finish
function:
	ret
handler:
	lea	place(%rip), %rax
	mov	%rax, UC_RDI(%rdx)
	ret
	.data
where:	.quad	function
place:	.quad	7
