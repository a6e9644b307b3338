/* SPDX-License-Identifier: MIT */
/* What the exact engine counts: the classes an instruction can belong to. */
#ifndef EXACT_CLASSES_H
#define EXACT_CLASSES_H

/*
 * A program that runs under the engine with a running count asks where its thread's count lies by
 * arch_prctl(EXACT_WHERE, &address), and then reads it with a plain load. Natively the call is -EINVAL. The
 * count holds all instructions up to the end of the block that reads it: for one place in the code, the
 * true count plus a constant. The address is the calling thread's, and valid until it ends.
 */
enum { EXACT_WHERE = 0x74617265 };

enum exact_class {
	EXACT_INSTRUCTIONS,
	EXACT_BRANCHES,    /* near jumps, calls and returns */
	EXACT_CONDITIONAL, /* those that may fall through */
	EXACT_TAKEN,       /* those that did not */
	EXACT_CALLS,
	EXACT_RETURNS,
	EXACT_INDIRECT, /* jumps and calls through a register or memory; returns not among them */
	EXACT_LOADS,    /* memory operands read, implicit ones too */
	EXACT_STORES,   /* memory operands written */
	EXACT_ATOMICS,  /* lock prefix, xchg with memory */
	EXACT_REP,      /* repeated string instructions, each counted once */
	EXACT_SYSCALLS,
	EXACT_X87,
	EXACT_MMX,
	EXACT_VEC128, /* widest vector register named by the instruction */
	EXACT_VEC256,
	EXACT_VEC512,
	EXACT_CLASSES,
};

#endif
