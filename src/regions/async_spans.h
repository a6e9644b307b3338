/* SPDX-License-Identifier: MIT */
/* Matches the starts and finishes of async spans by number, in any order. Zero-initialise. */
#ifndef REGIONS_ASYNC_SPANS_H
#define REGIONS_ASYNC_SPANS_H

#include "regions/timeline/timeline.h"

struct async_end {
	uint64_t number, offset, value[TIMELINE_COUNTERS_MAX]; /* offset: in the file */
	size_t thread;
	uint32_t row, label; /* for the caller */
	uint8_t missing;     /* counters that were not read */
	bool is_start, used;
	bool met;       /* set by async_spans_settle(): the other end is in the recording */
	bool elsewhere; /* also set there: in a thread that was excluded */
};

/* A label's begins and ends without a counterpart, and the place of the first one. */
struct region_unbalanced {
	uint64_t not_ended, not_begun;                      /* regions */
	uint64_t not_finished, not_started, finished_again; /* async spans */
	size_t thread;
	const char *file; /* NULL: not known */
	uint32_t line;
};

struct async_spans {
	struct async_end *slot; /* by number */
	size_t n, slots;
};

enum async_end_met {
	ASYNC_END_KEPT,  /* the first half with its number */
	ASYNC_END_WHOLE, /* the pair is complete: *other is the stored half, which is removed */
	ASYNC_END_TWICE, /* the same half is already stored; it stays */
	ASYNC_END_NO_MEMORY,
};

enum async_end_met async_spans_meet(struct async_spans *h, const struct async_end *half,
				    struct async_end *other);
/*
 * After all points were read: find the other ends of the stored halves. Reads the recording again
 * if there is any such half. left_out: per thread, true if it was not read; NULL: all were read.
 */
int async_spans_settle(struct async_spans *h, struct timeline *t, const bool *left_out,
		       struct tare_error *err);
/*
 * Add a settled half to the counts of its label. Returns false if its other end is in an excluded
 * thread.
 */
bool async_end_judge(const struct async_end *half, struct region_unbalanced *u);
void async_spans_free(struct async_spans *h);

#endif
