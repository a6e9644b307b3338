/* SPDX-License-Identifier: MIT */
/*
 * A whole program of exactly 2 * ROUNDS + 5 user instructions, from the first after execve to the exit
 * call: 2 set the count, 2 a round, 3 leave with status 0.
 */
	.globl _start
_start:
	movz x0, #(ROUNDS & 0xffff)
	movk x0, #(ROUNDS >> 16), lsl #16
1:	subs x0, x0, #1
	b.ne 1b
	mov x0, #0
	mov x8, #93 /* exit */
	svc #0
	.section .note.GNU-stack, "", %progbits
