/* SPDX-License-Identifier: MIT */
/*
 * The two marks around a piece of code that `tare bench` measures: start and stop. Each reads
 * counters and appends an entry to a log. They are written in assembly so that they can surround
 * the smallest piece of code: they change neither general registers nor flags nor vector state (on
 * arm64 only the link register, like every call).
 *
 * An entry: a word that is MARK_START or MARK_STOP, a word with the result of the system call
 * (clock and registers: not written), then mark_state.stride - 8 bytes of counters. Stops do not
 * write the first word: it must be MARK_STOP before, in the whole log. There is no bounds check:
 * the memory after the log must fault.
 *
 * One thread at a time, as there is only one log.
 */
#ifndef ARCH_MARK_H
#define ARCH_MARK_H

#define MARK_CURSOR   0
#define MARK_STRIDE   8
#define MARK_HANDLE   16
#define MARK_CALL     80
#define MARK_SAVED    104
#define MARK_FUNCTION 168
#define MARK_VECTORS  2752

#define MARK_START 1
#define MARK_STOP  0

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tare/pmc.h"

enum { MARK_COUNTERS = 8 };

struct mark_state {
	unsigned char *cursor;          /* where the next entry is written */
	uint64_t stride;                /* of entries, in bytes */
	uint64_t handle[MARK_COUNTERS]; /* tare_pmc_handle of each counter */
	struct {
		/* the second argument is the address of the entry's counters */
		uint64_t number, first, third;
	} call;
	uint64_t saved[8];
	int (*function)(uint64_t *counters); /* negative: an error, which is stored in the entry */
};

_Static_assert(offsetof(struct mark_state, stride) == MARK_STRIDE, "");
_Static_assert(offsetof(struct mark_state, handle) == MARK_HANDLE, "");
_Static_assert(offsetof(struct mark_state, call) == MARK_CALL, "");
_Static_assert(offsetof(struct mark_state, saved) == MARK_SAVED, "");
_Static_assert(offsetof(struct mark_state, function) == MARK_FUNCTION, "");

struct marks {
	void (*start)(void), (*stop)(void);
};

extern struct mark_state mark_state;
/* By number of counters, 1 to MARK_COUNTERS: their registers, read without a system call. */
extern const struct marks mark_registers[MARK_COUNTERS + 1];
extern const struct marks mark_clock; /* the time stamp counter, the generic timer */
#if defined(__x86_64__)
/* mark_state.function; all registers are preserved, vector state by xsave */
extern const struct marks mark_function;
bool mark_function_possible(void); /* is xsave supported */
#endif
extern const struct marks mark_call; /* one system call, which writes its result into the entry */

/*
 * start(), stop(), `times` times, at least once; and start(), function(), stop(): with no
 * instructions except the calls.
 */
void mark_pairs(int times, void (*start)(void), void (*stop)(void));
void mark_around(void (*start)(void), void (*function)(void), void (*stop)(void));
#endif

#endif
