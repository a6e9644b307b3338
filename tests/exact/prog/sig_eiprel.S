/* A fault at an EIP-relative operand: every register that the handler sees is the program's own. */
#include "run.inc"
#include "sig.inc"
	begin
	altstack
	handle 11, handler
	mov $0x1111, %edi
	mov $0x2222, %esi
	.byte 0x67, 0x00, 0x35
	.long 0x1000000
	nop
	finish
handler:
	mov UC_RDI(%rdx), %rax
	mov UC_RDI+8(%rdx), %rbx
	keep %rax, %rbx
	mov %r15, UC_R8+56(%rdx)
	addq $7, UC_RIP(%rdx)
	ret
