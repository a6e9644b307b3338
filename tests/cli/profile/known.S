/* SPDX-License-Identifier: MIT */
/* Functions whose instructions are known: 1 call of _start, 1000 of the others. */
	.text
	.globl _start
	.type _start, @function
_start:
	mov $1000, %ebx
1:	call inner
	call falls
	dec %ebx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
	.size _start, . - _start

	.globl inner /* 1 + 7 * 2 + 1 */
	.type inner, @function
inner:
	mov $7, %ecx
2:	dec %ecx
	jnz 2b
	ret
	.size inner, . - inner

	.globl falls /* 2, then on into the next without a branch */
	.type falls, @function
falls:
	nop
	nop
	.size falls, . - falls

	.globl into /* 3 */
	.type into, @function
into:
	nop
	lea (%rax), %rax
	ret
	.size into, . - into
	.section .note.GNU-stack, "", @progbits
