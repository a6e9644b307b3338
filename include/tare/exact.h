/* SPDX-License-Identifier: MIT */
/*
 * A program that runs under the exact engine (tare stat --engine exact, tare regions) reads its own
 * counts: how many instructions the calling thread has retired in user mode up to this very place.
 *
 *	int64_t before = tare_exact_now();
 *
 *	work();
 *	printf("%lld instructions\n", (long long)(tare_exact_now() - before));
 *
 * Both reads are exact to the instruction, so their difference is: it counts everything behind the
 * first load up to the second one, that one included. The same program says the same in each run.
 */
#ifndef TARE_EXACT_H
#define TARE_EXACT_H

#include <stddef.h>
#include <stdint.h>
#include "tare/error.h"
#include "tare/now.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What an instruction can count as; one instruction belongs to several. */
enum tare_exact_class {
	TARE_EXACT_INSTRUCTIONS,
	TARE_EXACT_BRANCHES,    /* near jumps, calls and returns */
	TARE_EXACT_CONDITIONAL, /* those that may fall through */
	TARE_EXACT_TAKEN,       /* those that did not */
	TARE_EXACT_CALLS,
	TARE_EXACT_RETURNS,
	TARE_EXACT_INDIRECT, /* jumps and calls through a register or memory; returns not among them */
	TARE_EXACT_LOADS,    /* memory operands read, implicit ones too */
	TARE_EXACT_STORES,   /* memory operands written */
	TARE_EXACT_ATOMICS,
	TARE_EXACT_REP, /* repeated string instructions, each counted once */
	TARE_EXACT_SYSCALLS,
	TARE_EXACT_X87,
	TARE_EXACT_MMX,
	TARE_EXACT_VEC128, /* by the widest vector register that is named */
	TARE_EXACT_VEC256,
	TARE_EXACT_VEC512,
	TARE_EXACT_ACCESSES, /* memory operands accessed; one that is read and written is one */
	TARE_EXACT_CLASSES
};

/**
 * tare_exact_now(), from tare/now.h: the instructions that the calling thread has retired in user mode
 * since it began, the load that reads them being the last one counted; -1 where no engine keeps a running
 * count (it must be asked for: the program then runs about half as fast as under the engine without).
 *
 * A forked child and a program after exec begin at 0. A child in its parent's memory without a thread's memory of its own
 * (vfork(); clone() with CLONE_VM and without CLONE_SETTLS) has counts of 2^50 and more beyond its parent's and other such
 * children's: the difference of two processes' counts shows that it is none. An instruction counts when it retires; `rep` is 1,
 * a system call is 1, nothing of the kernel counts. In a signal handler the count holds what the thread
 * had retired when the signal came. One load, inline, from any thread, in any handler; natively one load
 * too. The compiler moves no other access to memory across it.
 *
 * Source: the engine's translation of this one load (docs/exact-engine.md); the judge, ptrace
 * single-stepping, agrees with ==.
 */

/**
 * All classes of the calling thread at once, without a running count: under any run of the engine.
 *
 * @out  room for n counts, in the order of enum tare_exact_class, of the thread since it began. The
 *       system call by which the engine is asked is the last instruction in them. Written only on success.
 * @n    at most TARE_EXACT_CLASSES.
 * @err  says what went wrong; may be NULL.
 *
 * Returns 0; -ENOTSUP when the program does not run under the exact engine; -ENODATA when n > 1 and it
 * counts instructions alone; -EINVAL for an n out of range. From any thread, in any handler. Costs one system
 * call, and natively nothing else; under the engine one pass over the counters of the code executed so
 * far: some ten microseconds in a small program, some hundred in a compiler.
 */
TARE_API int tare_exact_read(int64_t *out, size_t n, struct tare_error *err);

/** The class as events are named: "instructions", "loads", ...; NULL out of range. */
TARE_API const char *tare_exact_class_name(enum tare_exact_class c);

#ifdef __cplusplus
}
#endif
#endif
