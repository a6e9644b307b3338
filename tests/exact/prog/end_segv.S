/* Death by a fault, ten instructions in; the eleventh does not retire. */
	.globl _start
_start:	.rept	10
	nop
	.endr
	mov	0x8, %rax
	nop
