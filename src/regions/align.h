/* SPDX-License-Identifier: MIT */
/*
 * Align the points of one thread across several runs. While the runs do the same, steps are
 * returned; where they differ, the difference and then the position at which they agree again. The
 * search window bounds the memory.
 */
#ifndef REGIONS_ALIGN_H
#define REGIONS_ALIGN_H

#include "regions/labels.h"
#include "regions/timeline/timeline.h"

enum {
	ALIGN_SAME = 8,         /* this many common points end a difference */
	ALIGN_CLOSE = 4096,     /* this many points of each run are compared with each other */
	ALIGN_WINDOW = 1 << 18, /* a sequence of common points is searched in this many points */
	/* this many points are read from one run before the next run */
	ALIGN_AT_ONCE = TIMELINE_AT_ONCE,
};

/* Labels are numbers that all runs share (labels_of()). */
struct align_point {
	uint32_t label, around; /* around: label of the enclosing region; LABELS_NONE: none */
	enum timeline_kind kind;
	uint8_t missing; /* counters without a valid value */
	uint64_t offset; /* in its file */
	/*
	 * points of the file after the previous point, including this one; for lost points their
	 * number, 0: unknown
	 */
	uint64_t points;
};

/*
 * The points of one run and the values of all counters for each. Returns the number of points, at
 * most `most`; 0 at the end; or a negative errno.
 */
struct align_source {
	int (*read)(struct align_source *s, size_t most, struct align_point *point, uint64_t *value,
		    struct tare_error *err);
};

struct align_run {
	struct align_source *source;
	struct align_point *ahead; /* lookahead, from index `first` */
	uint64_t *value;           /* their values */
	size_t room, first;
	size_t n, ready; /* number requested; number read */
	bool ended;      /* the source has no more points */
	uint64_t index;  /* of the first shown point, from 0 */
	size_t passed;   /* in a difference: points that are not in all runs */
	size_t gaps;     /* of those: placeholders for lost points */
};

enum align_what {
	ALIGN_END,
	ALIGN_STEP, /* all runs have these next n_shown points */
	/*
	 * the runs differ; align_points() returns the next point of each. The next call continues
	 * after the difference
	 */
	ALIGN_DIFFERENCE,
	ALIGN_LOST, /* the same, but no common point was found: the whole window is skipped */
};

struct align_labels {
	const uint64_t *key; /* by label: a number that does not depend on the order of the runs */
	size_t n;
	/*
	 * Called once, at the first difference: clears the flag of labels with different counts in
	 * the runs. NULL: not known.
	 */
	int (*find_steady)(void *with, bool *steady, struct tare_error *err);
	void *with;
	/* a run lost points, so its enclosing regions may be unknown and are not compared */
	bool around_unknown;
};

struct align {
	struct align_run *run;
	size_t n_runs, n_counters;
	size_t n_shown;
	const struct align_labels *labels;
	bool *steady; /* by label; NULL: no difference so far */
	bool differ;
	uint64_t *
		/* n_runs indices each: points that all runs have, behind the last difference */
		together;
	size_t n_together, next, together_room;
};

/* The caller keeps labels valid until the align is freed. */
int align_open(struct align *a, struct align_source **sources, size_t n, size_t n_counters,
	       const struct align_labels *labels, struct tare_error *err);
void align_close(struct align *a);
/* Returns an enum align_what, or a negative errno. */
int align_next(struct align *a, struct tare_error *err);

/*
 * After ALIGN_STEP, the points of a run and their values. After ALIGN_DIFFERENCE, the run's next
 * point, if n is not 0.
 */
static inline const struct align_point *align_points(const struct align *a, size_t run)
{
	return a->run[run].ahead + a->run[run].first;
}
static inline const uint64_t *align_values(const struct align *a, size_t run)
{
	return a->run[run].value + a->run[run].first * a->n_counters;
}
/* After ALIGN_DIFFERENCE, before the next call: the number of points of a run that are skipped. */
size_t align_passed(const struct align *a, size_t run);

#endif
