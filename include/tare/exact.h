/* SPDX-License-Identifier: MIT */
/*
 * A program under the exact engine reads its own counts: the number of instructions that the
 * calling thread has retired in user mode so far. Run it with
 * tare stat --engine exact --deterministic=+clock, or with tare regions -e instructions:u.
 *
 *	int64_t before = tare_exact_now();
 *
 *	work();
 *	printf("%lld instructions\n", (long long)(tare_exact_now() - before));
 *
 * Both reads are exact to the instruction, and so is their difference: it counts all instructions
 * after the first load, up to and including the second. A deterministic program gets the same
 * number in each run.
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

/** Classes of instructions; an instruction may belong to several. */
enum tare_exact_class {
	TARE_EXACT_INSTRUCTIONS,
	TARE_EXACT_BRANCHES,    /* near jumps, calls and returns */
	TARE_EXACT_CONDITIONAL, /* branches that may fall through */
	TARE_EXACT_TAKEN,       /* branches that did not fall through */
	TARE_EXACT_CALLS,
	TARE_EXACT_RETURNS,
	TARE_EXACT_INDIRECT, /* jumps and calls through a register or memory, without returns */
	TARE_EXACT_LOADS,    /* memory operands read, including implicit ones */
	TARE_EXACT_STORES,   /* memory operands written */
	TARE_EXACT_ATOMICS,
	TARE_EXACT_REP, /* repeated string instructions, each counted once */
	TARE_EXACT_SYSCALLS,
	TARE_EXACT_X87,
	TARE_EXACT_MMX,
	TARE_EXACT_VEC128, /* by the widest vector register in the instruction */
	TARE_EXACT_VEC256,
	TARE_EXACT_VEC512,
	/* memory operands accessed; an operand that is read and written counts once */
	TARE_EXACT_ACCESSES,
	TARE_EXACT_CLASSES
};

/**
 * tare_exact_now(), from tare/now.h: the number of instructions that the calling thread has retired
 * in user mode since it began, including the load that reads it; -1 if there is no running count.
 * The engine has a running count with --deterministic=+clock, and under tare regions
 * -e instructions:u. The program then takes about twice the time. tare stat --engine exact alone
 * has none: use tare_exact_read() there.
 *
 * A forked child and a program after exec begin at 0. A child that shares its parent's memory and
 * thread-local storage (vfork(); clone() with CLONE_VM and without CLONE_SETTLS) has counts that
 * differ by 2^50 or more from those of its parent and of other such children. So a difference
 * between two processes is recognisable as invalid. An instruction counts when it retires: `rep` is
 * 1, a system call is 1, kernel instructions do not count. In a signal handler, the count is the
 * number of instructions that the thread had retired when the signal was delivered. Costs one
 * inline load, also without the engine; from any thread, in any handler. The compiler does not move
 * other memory accesses across it.
 *
 * Source: the engine's translation of this one load (docs/internals/exact-engine.md). It is tested
 * for equality with ptrace single-stepping.
 */

/**
 * Read all classes of the calling thread, in any run under the engine; needs no running count.
 *
 * @out  room for n counts, in the order of enum tare_exact_class, of the thread since it began. The
 *       system call that asks the engine is the last instruction included. Written only on success.
 * @n    at most TARE_EXACT_CLASSES.
 * @err  says what went wrong; may be NULL.
 *
 * Returns 0; -ENOTSUP if the program does not run under the exact engine; -ENODATA if n > 1 and the
 * engine counts instructions only; -EINVAL if n is out of range. From any thread, in any handler.
 * Costs one system call; under the engine, also one pass over the counters of the code executed so
 * far: about ten microseconds in a small program, about a hundred in a compiler.
 */
TARE_API int tare_exact_read(int64_t *out, size_t n, struct tare_error *err);

/**
 * A function that the engine calls between two instructions of the thread, like a signal handler.
 *
 * @instructions  retired by the thread since tare_exact_every(), excluding the calls: a multiple of
 *                n.
 * @context       the interrupted registers, a ucontext_t as in a signal handler with SA_SIGINFO.
 *                Changes take effect when the function returns. Valid until then.
 * @with          the caller's pointer.
 */
typedef void tare_exact_call(uint64_t instructions, void *context, void *with);

/**
 * Call a function after every n-th instruction that the calling thread retires in user mode, in any
 * run under the engine. If the program is deterministic, each run has the calls at the same
 * instructions.
 *
 * @n     instructions between two calls, at most 2^60; 0 ends the calls. The first instruction that
 *        counts is the one after the system call in this function, so its return counts.
 * @call  the function. It is called between any two instructions, also in malloc() or in a signal
 *        handler, so it may use only async-signal-safe functions (signal-safety(7)). May be NULL if
 *        n is 0.
 * @with  passed to each call. tare does not access it.
 * @err   says what went wrong; may be NULL.
 *
 * The instructions of a call do not count towards the next one, and there is no call during a call.
 * All other counts include them. A call runs on the thread's current stack, below the red zone. The
 * stack must have room for a signal frame (sysconf(_SC_MINSIGSTKSZ)). A call preserves errno and
 * the signal mask, and no system call fails with EINTR because of it.
 *
 * tare_exact_every() in a call sets a new period. Its count begins at once, so it includes the rest
 * of the call. If a call does not return (siglongjmp()), there are no more calls until the next
 * tare_exact_every(). Each thread has its own period and function. New threads, children and
 * executed programs begin without calls. A seccomp filter must allow arch_prctl(2), because a call
 * returns with it.
 *
 * Returns 0; -ENOTSUP if the program does not run under the exact engine; -EINVAL if n is out of
 * range, or call is NULL and n is not 0. From any thread, in any handler.
 *
 * Cost: one system call, also without the engine. Under the engine, the first use in a process
 * discards all translated code. From then on, all threads of the process take about 1.2 times as
 * long. The overhead of a call is about 4 us (measured in a virtual machine).
 *
 * Source: the engine's countdown for samples (docs/internals/exact-engine.md).
 */
TARE_API int tare_exact_every(uint64_t n, tare_exact_call *call, void *with,
			      struct tare_error *err);

/** The event name of the class: "instructions", "loads", ...; NULL if out of range. */
TARE_API const char *tare_exact_class_name(enum tare_exact_class c);

#ifdef __cplusplus
}
#endif
#endif
