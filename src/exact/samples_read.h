/* SPDX-License-Identifier: MIT */
/* Shared by exact.c and samples.c: reading the rings. */
#ifndef EXACT_SAMPLES_READ_H
#define EXACT_SAMPLES_READ_H

#include "exact/shared_state.h"
#include "exact/exact.h"

/* Converts the engine's ticks to CLOCK_MONOTONIC. */
struct exact_clock {
	uint64_t ns, ticks; /* read at the same time */
	uint64_t last;      /* of the last sample */
	double ns_per_tick;
	bool known;
};

void exact_clock_begin(struct exact_clock *c);

struct samples; /* state of the reader; free() */

/* What to read. `every` is as requested, regardless of the shared state's current contents. */
struct samples_of {
	struct shared_state *b;
	const struct every *every;
	struct exact_clock *clock;
	bool ended; /* the command has ended, so no process writes any more */
};

enum { SAMPLES_DAMAGED = -0x7a4d /* not an errno: the shared state's contents are invalid */ };

/* Deliver all samples available now. */
int samples_give(struct samples **s, const struct samples_of *of, exact_sample_fn *each, void *with,
		 struct tare_error *err);

/*
 * Do the counts of the ended threads add up to the total? For the end, when no process runs and all
 * samples were delivered.
 */
bool samples_add_up(const struct samples *s, const int64_t total[EXACT_CLASSES]);

#endif
