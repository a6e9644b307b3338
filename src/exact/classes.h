/* SPDX-License-Identifier: MIT */
/* What the exact engine counts: the classes an instruction can belong to. */
#ifndef EXACT_CLASSES_H
#define EXACT_CLASSES_H

/*
 * How a program reads its thread's counts (include/tare/exact.h): arch_prctl(EXACT_READ, out, n),
 * which is -EINVAL natively. For a running count: a load with three 3e prefixes, from memory that
 * begins with these bytes:
 */
enum { EXACT_READ = 0x74617265, EXACT_NOW_SIZE = 32 };
/*
 * Calls every n instructions of the thread (engine/callback.c): arch_prctl(EXACT_EVERY, n, enter,
 * call, with) makes the engine call enter(instructions, context, with, call), which ends with
 * arch_prctl(EXACT_RETURN, context).
 */
enum { EXACT_EVERY = EXACT_READ + 1, EXACT_RETURN };
#define EXACT_NOW_MEMORY "\377\377\377\377\377\377\377\377tare exact instructions:"

enum exact_class {
	EXACT_INSTRUCTIONS,
	EXACT_BRANCHES,    /* near jumps, calls and returns */
	EXACT_CONDITIONAL, /* conditional branches */
	EXACT_TAKEN,       /* conditional branches that were taken */
	EXACT_CALLS,
	EXACT_RETURNS,
	EXACT_INDIRECT, /* jumps and calls through a register or memory, without returns */
	EXACT_LOADS,    /* memory operands read, including implicit ones */
	EXACT_STORES,   /* memory operands written */
	EXACT_ATOMICS,  /* lock prefix, xchg with memory */
	EXACT_REP,      /* repeated string instructions, each counted once */
	EXACT_SYSCALLS,
	EXACT_X87,
	EXACT_MMX,
	EXACT_VEC128, /* widest vector register that the instruction names */
	EXACT_VEC256,
	EXACT_VEC512,
	EXACT_ACCESSES, /* memory operands; a read-modify-write operand counts once */
	EXACT_CLASSES,
};

#endif
