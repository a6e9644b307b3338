/* SPDX-License-Identifier: MIT */
/* `work` of a library: 3 instructions a round, ROUNDS rounds, and 2. */
	.text
	.globl work
	.type work, @function
work:
	mov $ROUNDS, %ecx
1:	nop
	dec %ecx
	jnz 1b
	ret
	.size work, . - work
	.section .note.GNU-stack, "", @progbits
