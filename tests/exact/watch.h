/* SPDX-License-Identifier: MIT */
/*
 * What the judge notes about single instructions, for what the engine tells of them: the program's
 * readings of its own counts (include/tare/exact.h), and every so many instructions of a class which one it was.
 */
#ifndef TESTS_EXACT_WATCH_H
#define TESTS_EXACT_WATCH_H

#include <sys/user.h>

#include "classify.h"

enum { WATCH_ACCESSES = 3 };

/* Note readings into a file, a line each: "THREAD now COUNT" or "THREAD all COUNT...", by order of creation. */
bool watch_reads(const char *path);

/* Note every n-th of a class, by name, into a file: "THREAD NUMBER PC COUNT...". */
bool watch_every(const char *path, uint64_t n, const char *class);

/* Is it the load of a running count? */
bool watch_is_now(const uint8_t *code, unsigned size);

struct watch_access {
	uint64_t address;
	bool known; /* to be compared */
	char what[5];
};

/*
 * Where the instruction is going to read or write, of the class that is sampled and in the operands' order, of all
 * accesses those read before those written: how many.
 */
unsigned watch_accesses(uint64_t at, const uint8_t *code, unsigned size, const struct user_regs_struct *r,
			struct watch_access out[WATCH_ACCESSES]);

/* An instruction of a thread has retired: its counts before and after. */
void watch_retired(unsigned thread, const struct insn *in, bool asks, const uint64_t before[C_COUNT],
		   const uint64_t after[C_COUNT], const struct watch_access *accesses, unsigned n_accesses);

/* Close the files; false when something could not be written. */
bool watch_end(void);

#endif
