/* SPDX-License-Identifier: MIT */
/* Offsets of the fields of struct thread, for assembly and for emitted code: gs:[T_...]. */
#ifndef EXACT_LAYOUT_H
#define EXACT_LAYOUT_H

#define T_COUNT      0x00
#define T_SELF       0x08
#define T_RAX        0x10
#define T_RCX        0x18
#define T_SCRATCH    0x20
#define T_TARGET     0x28
#define T_EDGE       0x30
#define T_JUMP       0x38
#define T_STACK      0x40
#define T_DISPATCH   0x48
#define T_MISS       0x50
#define T_SYSCALL    0x58
#define T_TAIL       0x60
#define T_CHILD      0x68
#define T_PENDING    0x70
#define T_SCRATCH2   0x78
#define T_REGS       0x80
#define T_FLAGS      0x100
#define T_USER_GS    0x108
#define T_IN_CALL    0x110
#define T_GENERATION 0x114
#define T_PATH       0x118
#define T_LEFT       0x120 /* and those of further events, 8 bytes each */
#define T_TURN       0x168

/* In T_EDGE: entered by an indirect branch, or from a system call. */
#define EDGE_MISS -1

#endif
