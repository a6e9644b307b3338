/* SPDX-License-Identifier: MIT */
/* Between exact.c and samples.c: reading what the rings hold. */
#ifndef EXACT_SAMPLES_READ_H
#define EXACT_SAMPLES_READ_H

#include "exact/board.h"
#include "exact/exact.h"

/* The engine's ticks as CLOCK_MONOTONIC. */
struct exact_clock {
	uint64_t ns, ticks; /* at one instant */
	uint64_t last;      /* seen in a sample */
	double ns_per_tick;
	bool known;
};

void exact_clock_begin(struct exact_clock *c);

struct samples; /* how far they have been read; free() */

/* What a reader goes by: `every` is as it was asked for, whatever the board says of it now. */
struct samples_of {
	struct board *b;
	const struct every *every;
	struct exact_clock *clock;
	bool ended; /* the command has ended, so no process writes any more */
};

enum { SAMPLES_DAMAGED = -0x7a4d /* no errno: what the board has makes no sense */ };

/* All there is now. */
int samples_give(struct samples **s, const struct samples_of *of, exact_sample_fn *each, void *with, struct tare_error *err);

#endif
