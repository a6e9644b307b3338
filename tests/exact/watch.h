/* SPDX-License-Identifier: MIT */
/*
 * What the judge notes about single instructions, for what the engine tells of them: the program's
 * readings of its own counts (include/tare/exact.h), and every so many instructions of a class which one it was.
 */
#ifndef TESTS_EXACT_WATCH_H
#define TESTS_EXACT_WATCH_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/user.h>

#include "classify.h"

enum { WATCH_ACCESSES = 3, WATCH_STACK = 64, WATCH_CHAIN = 20 };

/* A thread before an instruction: its registers, the stack from rsp upwards, and the callers by its frame pointers. */
struct watch_state {
	struct user_regs_struct registers;
	uint8_t stack[WATCH_STACK];
	size_t n_stack;
	uint64_t chain[WATCH_CHAIN];
	unsigned n_chain;
};

/* Nothing where no samples are noted. */
void watch_state(pid_t tid, const struct user_regs_struct *r, struct watch_state *out);

/* Note readings into a file, a line each: "THREAD now COUNT" or "THREAD all COUNT...", by order of creation. */
bool watch_reads(const char *path);

/* Note every n-th of a class, by name, into a file: "THREAD NUMBER PC COUNT... >TARGET @ADDRESS#BYTES =REGISTERS ^STACK <CALLER...". */
bool watch_every(const char *path, uint64_t n, const char *class);

/* Is it the load of a running count? */
bool watch_is_now(const uint8_t *code, unsigned size);

struct watch_access {
	uint64_t address, bytes; /* 0 bytes: not to be compared */
	bool known; /* to be compared */
	char what[5];
};

/*
 * Where the instruction is going to read or write, of the class that is sampled and in the operands' order, of all
 * accesses those read before those written: how many.
 */
unsigned watch_accesses(uint64_t at, const uint8_t *code, unsigned size, const struct user_regs_struct *r,
			struct watch_access out[WATCH_ACCESSES]);

/* An instruction of a thread has retired, which goes on at `next`: its counts before and after. */
void watch_retired(unsigned thread, pid_t tid, const struct insn *in, bool asks, const uint64_t before[C_COUNT],
		   const uint64_t after[C_COUNT], const struct watch_access *accesses, unsigned n_accesses,
		   const struct watch_state *state, uint64_t next);

/* Close the files; false when something could not be written. */
bool watch_end(void);

#endif
