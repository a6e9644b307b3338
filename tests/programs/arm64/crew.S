/* SPDX-License-Identifier: MIT */
/*
 * Four threads wait for the end of standard input. Then thread m (4 for the first) runs m * ROUNDS
 * rounds and exits: 2 * m * ROUNDS + 6 instructions from its read to its end.
 */
#define CLONE_THREAD_FLAGS 0x10f00 /* VM | FS | FILES | SIGHAND | THREAD */
#define NR_READ 63
#define NR_EXIT 93
#define NR_CLONE 220

	.globl _start
_start:
	mov x19, #1
	adrp x20, stack
	add x20, x20, :lo12:stack
thread:
	ldr x0, =CLONE_THREAD_FLAGS
	add x20, x20, #256
	mov x1, x20
	mov x2, #0
	mov x3, #0
	mov x4, #0
	mov x8, #NR_CLONE
	svc #0
	cbz x0, work /* x19 is private to the thread from here on */
	add x19, x19, #1
	cmp x19, #4
	b.ne thread
work:
	mov x0, #0
	adrp x1, byte
	add x1, x1, :lo12:byte
	mov x2, #1
	mov x8, #NR_READ
	svc #0
	movz x0, #(ROUNDS & 0xffff)
	movk x0, #(ROUNDS >> 16), lsl #16
	mul x0, x0, x19
1:	subs x0, x0, #1
	b.ne 1b
	mov x0, #0
	mov x8, #NR_EXIT
	svc #0
	.bss
	.balign 16
stack:	.space 1024
byte:	.space 1
	.section .note.GNU-stack, "", %progbits
