/* SPDX-License-Identifier: MIT */
/*
 * A whole program of exactly 2 * ROUNDS + 4 user instructions, from the first after execve to the exit
 * call: 1 sets the count, 2 a round, 3 leave with status 0.
 */
	.globl _start
_start:
	mov $ROUNDS, %ecx
1:	dec %ecx
	jnz 1b
	xor %edi, %edi
	mov $60, %eax /* exit */
	syscall
	.section .note.GNU-stack, "", @progbits
