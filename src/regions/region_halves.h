/* SPDX-License-Identifier: MIT */
/* Starts and finishes of detached timings, joined by their number, whichever is read first. Zero-initialise. */
#ifndef REGIONS_REGION_HALVES_H
#define REGIONS_REGION_HALVES_H

#include "regions/timeline/timeline.h"

struct region_half {
	uint64_t number, offset, value[TIMELINE_COUNTERS_MAX]; /* offset: in the file */
	size_t thread;
	uint32_t row, label; /* the reader's own */
	uint8_t missing; /* counters that were not read */
	bool is_start, used;
	bool met;	/* region_halves_settle(): its other end is in the recording all the same */
	bool elsewhere; /* likewise: in a thread that was left out */
};

/* Of a label: what has only one of its two ends, and where the first of it is. */
struct region_unbalanced {
	uint64_t not_ended, not_begun;			     /* regions */
	uint64_t not_finished, not_started, finished_again; /* detached timings */
	size_t thread;
	const char *file; /* NULL: not known */
	uint32_t line;
};

struct region_halves {
	struct region_half *slot; /* by number */
	size_t n, slots;
};

enum region_half_met {
	REGION_HALF_KEPT,     /* it is the first of its number */
	REGION_HALF_WHOLE,    /* *other is the half that was kept; it is kept no more */
	REGION_HALF_TWICE,    /* the same half was kept already, and stays */
	REGION_HALF_NO_MEMORY,
};

enum region_half_met region_halves_meet(struct region_halves *h, const struct region_half *half, struct region_half *other);
/*
 * When all was read: what became of the other ends of those that are kept. Reads the recording once more, where there is one that that
 * can tell of. left_out: per thread, that it was not read; NULL: all were.
 */
int region_halves_settle(struct region_halves *h, struct timeline *t, const bool *left_out, struct tare_error *err);
/* Adds one that was settled to what its label has; false where it is only in a thread that was left out. */
bool region_half_judge(const struct region_half *half, struct region_unbalanced *u);
void region_halves_free(struct region_halves *h);

#endif
