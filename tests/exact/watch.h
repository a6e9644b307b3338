/* SPDX-License-Identifier: MIT */
/*
 * What the judge records about single instructions, to check the engine: the program's reads of its
 * own counts (include/tare/exact.h), and every n-th instruction of a class.
 */
#ifndef TESTS_EXACT_WATCH_H
#define TESTS_EXACT_WATCH_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/user.h>

#include "classify.h"

enum { WATCH_ACCESSES = 3, WATCH_STACK = 64, WATCH_CHAIN = 20 };

/*
 * A thread before an instruction: its registers, the stack from rsp upwards, and the call chain by
 * frame pointers.
 */
struct watch_state {
	struct user_regs_struct registers;
	uint8_t stack[WATCH_STACK];
	size_t n_stack;
	uint64_t chain[WATCH_CHAIN];
	unsigned n_chain;
};

/* Does nothing if no samples are recorded. */
void watch_state(pid_t tid, const struct user_regs_struct *r, struct watch_state *out);

/*
 * Record reads in a file, one line each: "THREAD now COUNT" or "THREAD all COUNT...", threads by
 * order of creation.
 */
bool watch_reads(const char *path);

/*
 * Record every n-th of a class, by name, in a file: "THREAD NUMBER PC COUNT... >TARGET
 * @ADDRESS#BYTES =REGISTERS ^STACK <CALLER...".
 */
bool watch_every(const char *path, uint64_t n, const char *class);

/* Is it the load of a running count? */
bool watch_is_now(const uint8_t *code, unsigned size);

struct watch_access {
	uint64_t address, bytes; /* 0 bytes: not to be compared */
	bool known;              /* to be compared */
	char what[5];
};

/*
 * The addresses that the instruction is about to read or write, for the sampled class and in the
 * operands' order, for accesses reads before writes. Returns their number.
 */
unsigned watch_accesses(uint64_t at, const uint8_t *code, unsigned size,
			const struct user_regs_struct *r, struct watch_access out[WATCH_ACCESSES]);

/*
 * An instruction of a thread has retired, and the thread continues at `next`: its counts before and
 * after.
 */
void watch_retired(unsigned thread, pid_t tid, const struct insn *in, bool asks,
		   const uint64_t before[C_COUNT], const uint64_t after[C_COUNT],
		   const struct watch_access *accesses, unsigned n_accesses,
		   const struct watch_state *state, uint64_t next);

/* Close the files; false if a write failed. */
bool watch_end(void);

#endif
