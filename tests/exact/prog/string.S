/* The string instructions without rep, both directions. */
#include "run.inc"
	begin
	.irp f, 0x2, 0x402
	lea	s+32(%rip), %rsi
	lea	d+32(%rip), %rdi
	flags	\f
	.irp i, movsb, movsw, movsl, movsq, lodsb, lodsw, lodsl, lodsq, stosb, stosw, stosl, stosq
	\i
	keep	%rax, %rsi, %rdi
	.endr
	.irp i, cmpsb, cmpsw, cmpsl, cmpsq, scasb, scasw, scasl, scasq
	\i
	keepf
	keep	%rsi, %rdi
	.endr
	addr32 lodsb
	addr32 stosw
	cld
	keep	%rsi, %rdi, %rax
	.endr
	mov	$16, %ecx
	lea	d(%rip), %rsi
	mov	%r15, %rdi
	rep movsq
	mov	%rdi, %r15
	finish
	.data
s:	.ascii	"The quick brown fox jumps over the lazy dog, and back again, and again, and again, and again,,,,,,,,,,,,"
d:	.skip	128, 0x20
