/* SPDX-License-Identifier: MIT */
/* Starts and finishes of detached timings, joined by their number, whichever is read first. Zero-initialise. */
#ifndef ANALYZE_REGION_HALVES_H
#define ANALYZE_REGION_HALVES_H

#include "record/timeline.h"

struct region_half {
	uint64_t number, value[TIMELINE_COUNTERS_MAX];
	size_t thread;
	uint32_t row;	 /* the reader's own */
	uint8_t missing; /* counters that were not read */
	bool is_start, used;
};

struct region_halves {
	struct region_half *slot; /* by number */
	size_t n, slots;
};

enum region_half_met {
	REGION_HALF_KEPT,     /* it is the first of its number */
	REGION_HALF_WHOLE,    /* *other is the half that was kept; it is kept no more */
	REGION_HALF_TWICE,    /* the same half was kept already: this one takes its place */
	REGION_HALF_NO_MEMORY,
};

enum region_half_met region_halves_meet(struct region_halves *h, const struct region_half *half, struct region_half *other);
void region_halves_free(struct region_halves *h);

#endif
