/* SPDX-License-Identifier: MIT */
/* Matches the starts and finishes of detached timings by number, in any order. Zero-initialise. */
#ifndef REGIONS_REGION_HALVES_H
#define REGIONS_REGION_HALVES_H

#include "regions/timeline/timeline.h"

struct region_half {
	uint64_t number, offset, value[TIMELINE_COUNTERS_MAX]; /* offset: in the file */
	size_t thread;
	uint32_t row, label; /* for the caller */
	uint8_t missing;     /* counters that were not read */
	bool is_start, used;
	bool met;       /* set by region_halves_settle(): the other end is in the recording */
	bool elsewhere; /* also set there: in a thread that was excluded */
};

/* A label's begins and ends without a counterpart, and the place of the first one. */
struct region_unbalanced {
	uint64_t not_ended, not_begun;                      /* regions */
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
	REGION_HALF_KEPT,  /* the first half with its number */
	REGION_HALF_WHOLE, /* the pair is complete: *other is the stored half, which is removed */
	REGION_HALF_TWICE, /* the same half is already stored; it stays */
	REGION_HALF_NO_MEMORY,
};

enum region_half_met region_halves_meet(struct region_halves *h, const struct region_half *half,
					struct region_half *other);
/*
 * After all points were read: find the other ends of the stored halves. Reads the recording again
 * if there is any such half. left_out: per thread, true if it was not read; NULL: all were read.
 */
int region_halves_settle(struct region_halves *h, struct timeline *t, const bool *left_out,
			 struct tare_error *err);
/*
 * Add a settled half to the counts of its label. Returns false if its other end is in an excluded
 * thread.
 */
bool region_half_judge(const struct region_half *half, struct region_unbalanced *u);
void region_halves_free(struct region_halves *h);

#endif
