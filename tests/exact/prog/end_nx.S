/* Death by a call into data that may not be run. */
	.globl _start
_start:	lea	word(%rip), %rax
	nop
	call	*%rax
	.data
word:	.quad	0xc3c3c3c3c3c3c3c3
