/* SPDX-License-Identifier: MIT */
/*
 * Three children by fork, one after the other, then four threads at once; each runs ROUNDS rounds.
 * The number of user instructions is known for each of them:
 *
 *	a child		clone's return 1, the loop's set-up 2, 2 * ROUNDS, exit 3		2R + 6
 *	a thread	the same								2R + 6
 *	the parent	3 forks of 14, 4 threads of 8, and 8 around them		82
 *
 * The total is 14 * ROUNDS + 124. The parent leaves by exit, not exit_group: the process ends with
 * its last thread, and there is no waiting loop with a variable number of rounds.
 */
#define CLONE_THREAD_FLAGS 0x10f00 /* VM | FS | FILES | SIGHAND | THREAD */
#define SIGCHLD 17
#define NR_EXIT 93
#define NR_CLONE 220
#define NR_WAIT4 260

	.globl _start
_start:
	mov x19, #3
fork:
	mov x0, #SIGCHLD
	mov x1, #0
	mov x2, #0
	mov x3, #0
	mov x4, #0
	mov x8, #NR_CLONE
	svc #0
	cbz x0, work
	mov x1, #0 /* x0 is the child's pid */
	mov x2, #0
	mov x8, #NR_WAIT4
	svc #0
	subs x19, x19, #1
	b.ne fork
	mov x19, #4
	adrp x20, stack
	add x20, x20, :lo12:stack
thread:
	ldr x0, =CLONE_THREAD_FLAGS
	add x20, x20, #256
	mov x1, x20
	mov x8, #NR_CLONE
	svc #0
	cbz x0, work
	subs x19, x19, #1
	b.ne thread
	b leave
work:
	movz x0, #(ROUNDS & 0xffff)
	movk x0, #(ROUNDS >> 16), lsl #16
1:	subs x0, x0, #1
	b.ne 1b
leave:
	mov x0, #0
	mov x8, #NR_EXIT
	svc #0
	.bss
	.balign 16
stack:	.space 1280
	.section .note.GNU-stack, "", %progbits
