/* SPDX-License-Identifier: MIT */
/*
 * The points of one thread in several runs, side by side: while the runs do the same, step by step; where they differ, the
 * difference, and then on from where they do the same again. Memory is bounded by the window that is searched for that.
 */
#ifndef REGIONS_ALIGN_H
#define REGIONS_ALIGN_H

#include "regions/labels.h"
#include "regions/timeline/timeline.h"

enum {
	ALIGN_SAME = 8,		 /* so many points that all have are enough to go on from */
	ALIGN_CLOSE = 4096,	 /* so many points of each run are compared one with another */
	ALIGN_WINDOW = 1 << 18, /* so many are searched for points in a row that all have */
	ALIGN_AT_ONCE = TIMELINE_AT_ONCE, /* so many are read of a run before those of the next */
};

/* Labels are numbers that all runs share (labels_of()). */
struct align_point {
	uint32_t label, around; /* around: what it lies in; LABELS_NONE: nothing */
	enum timeline_kind kind;
	uint8_t missing;	/* counters whose value means nothing */
	uint64_t offset;	/* in its file */
	uint64_t points;	/* of the file, behind the one before and up to this; of lost ones, how many, 0: nobody knows */
};

/* One run's points, and for each the values of all counters: how many, `most` at most, 0 at the end, or a negative errno. */
struct align_source {
	int (*read)(struct align_source *s, size_t most, struct align_point *point, uint64_t *value, struct tare_error *err);
};

struct align_run {
	struct align_source *source;
	struct align_point *ahead; /* from `first` on */
	uint64_t *value;	   /* of those */
	size_t room, first;
	size_t n, ready; /* that were asked for; that were read */
	bool ended;	/* the source has no more behind those */
	uint64_t index; /* of the first point that is shown, from 0 */
	size_t passed;	/* of a difference: points that not all runs have */
	size_t gaps;	/* of those: no points, but what stands for lost ones */
};

enum align_what {
	ALIGN_END,
	ALIGN_STEP,	  /* all runs have these points next: n_shown of them */
	ALIGN_DIFFERENCE, /* they have not; align_points() says what each has next. The next call goes on behind it */
	ALIGN_LOST,	  /* as that, but within the window they do not come together: all of it is passed over */
};

struct align_labels {
	const uint64_t *key; /* by label: a number that says the same whichever run is first */
	size_t n;
	/* Asked once, where runs differ: takes `true` from labels that not all runs have equally often. NULL: not known. */
	int (*find_steady)(void *with, bool *steady, struct tare_error *err);
	void *with;
	bool around_unknown; /* a run lost points: behind them it may not know what its points lie in, and that tells none apart */
};

struct align {
	struct align_run *run;
	size_t n_runs, n_counters;
	size_t n_shown;
	const struct align_labels *labels;
	bool *steady; /* by label; NULL: they do not differ so far */
	bool differ;
	uint64_t *together; /* n_runs indices each: points that all runs have, behind the last difference */
	size_t n_together, next, together_room;
};

/* labels outlive the align. */
int align_open(struct align *a, struct align_source **sources, size_t n, size_t n_counters, const struct align_labels *labels, struct tare_error *err);
void align_close(struct align *a);
/* An enum align_what, or a negative errno. */
int align_next(struct align *a, struct tare_error *err);

/* After ALIGN_STEP, a run's points and their values; after ALIGN_DIFFERENCE what it has next, if n is not 0. */
static inline const struct align_point *align_points(const struct align *a, size_t run)
{
	return a->run[run].ahead + a->run[run].first;
}
static inline const uint64_t *align_values(const struct align *a, size_t run)
{
	return a->run[run].value + a->run[run].first * a->n_counters;
}
/* After ALIGN_DIFFERENCE, before the next call: how many points of a run are passed over to come together again. */
size_t align_passed(const struct align *a, size_t run);

#endif
