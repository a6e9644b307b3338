/* SPDX-License-Identifier: MIT */
/*
 * Compare several recordings of the same work: the variation of region costs between runs (macro
 * noise), the variation of each interval between two consecutive points of a thread (micro noise),
 * and the places where the runs did different work.
 */
#ifndef REGIONS_AGGREGATE_H
#define REGIONS_AGGREGATE_H

#include "regions/align.h"
#include "noise/budget.h"
#include "regions/labels.h"
#include "regions/pair_threads.h"

enum {
	AGGREGATE_HINTS = 16,
	AGGREGATE_BUCKETS = 65, /* ranges of 0, of 1, of 2..3, of 4..7, and so on */
};

struct aggregate_options {
	size_t extremes;    /* number of distinct values in each list */
	size_t differences; /* number of differences kept with their place */
};

/* An interval from the point `from` to the next point `to`. Every run has both. */
struct aggregate_place {
	size_t thread;
	uint64_t index; /* index of `to` among the points of the first run */
	enum timeline_kind from_kind, to_kind;
	uint32_t from, to, around; /* around: label of the enclosing region; LABELS_NONE: none */
};

/* A value, the number of intervals with it, and the place of one of them. */
struct aggregate_extreme {
	uint64_t value, n;
	struct aggregate_place place;
};

struct aggregate_list {
	struct aggregate_extreme *entry; /* the most extreme first */
	size_t n;
	bool largest;
	uint64_t bar;                 /* less extreme values do not enter the list */
	size_t hint[AGGREGATE_HINTS]; /* by value: the last position of a value with this hash */
};

/* Noise of one counter that correlates with another counter. */
struct aggregate_cause {
	size_t counter; /* the other one */
	/* sum of ranges over the intervals in which the other counter differs between runs, too */
	uint64_t noise;
	uint64_t n; /* number of those intervals */
	/*
	 * of those: each difference between runs is the same integer multiple of the other
	 * counter's
	 */
	uint64_t exact;
	uint64_t seen; /* all intervals in which the other one differs between runs */
	struct aggregate_fit {
		/* sums over these, of deviations from the mean of the runs within each interval */
		double xy, xx;
		double xy_xy, xx_xy, xx_xx; /* sums of products of the two sums of an interval */
	} fit;
	double per;  /* this counter's change per unit of the other, by least squares */
	double half; /* half width of its 95 % confidence interval, if judged */
	bool judged;
	bool known; /* judged, and significantly different from 0 */
};

struct aggregate_counter {
	char *name, *unit;
	enum tare_quality quality;
	uint64_t intervals;   /* compared in all runs */
	uint64_t not_counted; /* a run has no value, or its counter decreased */
	uint64_t zero;        /* with the same value in all runs */
	uint64_t noise;       /* the sum of the ranges */
	/* of these: noisy intervals that end at a point new to their thread, and their noise */
	uint64_t firsts, firsts_noise;
	uint64_t bucket[AGGREGATE_BUCKETS];
	struct aggregate_list least, most; /* durations: the smallest minima, the largest maxima */
	struct aggregate_list steady, noisy; /* ranges: maximum minus minimum over the runs */
	struct aggregate_cause *cause;
	size_t n_causes;
	bool differs;
	/* if differs: the first interval that is not equal in all runs, in the first such thread */
	struct aggregate_place first;
};

/* The cost of one label in each run. */
struct aggregate_amount {
	int64_t self;
	/* unknown: regions and timings with unknown cost, not included in total and self */
	uint64_t total, unknown;
};

struct aggregate_tally {
	uint64_t count;
	uint64_t open;                    /* while reading */
	struct aggregate_amount amount[]; /* per counter */
};

struct aggregate_row {
	uint32_t label;
	void *tallies;      /* per run: see aggregate_tally() */
	uint64_t *async;    /* per run, of count: async spans; NULL: none */
	uint64_t *noise;    /* per counter: sum of the ranges of the intervals directly in it */
	uint64_t *compared; /* per counter: number of those intervals */
};

struct aggregate_difference {
	size_t thread;
	/* label of the enclosing region; label of the last common point; LABELS_NONE: none */
	uint32_t around, before;
	enum timeline_kind before_kind;
	bool lost; /* no common point found within the window */
	struct {
		uint64_t index, passed, offset;
		bool ends;      /* the thread ends: there is no next point */
		uint32_t label; /* of the next point; LABELS_NONE: none, or lost points */
		enum timeline_kind kind;
	} * run;
};

struct aggregate_thread {
	uint64_t tid; /* in the first run that has the thread */
	char *name;
	size_t runs; /* number of runs that have it */
	uint64_t steps, differences;
	bool gave_up;
};

struct aggregate_run {
	char *path, *format, *command, *damage, *live; /* damage, live: from timeline_info */
	bool one_cpu;                                  /* from timeline_info */
	uint64_t regions, points, alone;               /* alone: points that are not in all runs */
	uint64_t gaps, lost; /* places where points are missing; missing points, as far as known */
	bool lost_unknown;   /* an unknown number of other points is missing */
	struct timeline_machine machine;
	size_t threads;
	struct aggregate_amount async[TIMELINE_COUNTERS_MAX]; /* async spans of all rows */
};

struct aggregate {
	struct aggregate_options options;
	struct labels labels;
	struct aggregate_run *run;
	size_t n_runs;
	struct aggregate_counter *counter;
	size_t n_counters;
	struct aggregate_row *row;
	size_t n, room;
	uint32_t *row_of; /* by label: row + 1; 0: none */
	size_t row_of_room;
	struct aggregate_thread *thread;
	size_t n_threads;
	enum thread_pairing pairing;
	struct aggregate_difference *difference;
	size_t n_differences; /* the number kept */
	uint64_t differences, intervals;
};

/* All runs at once, because their points are read in parallel. -EINVAL if their counters differ. */
int aggregate(struct aggregate *a, struct timeline **timelines, size_t n,
	      const struct aggregate_options *options, struct tare_error *err);
void aggregate_free(struct aggregate *a);

/* The label's sums in this run. */
static inline struct aggregate_tally *aggregate_tally(const struct aggregate *a,
						      const struct aggregate_row *row, size_t run)
{
	struct aggregate_tally *t;

	return (void *)((char *)row->tallies +
			run * (sizeof(*t) + a->n_counters * sizeof(*t->amount)));
}

/* The intervals in no region, and their noise. They are in no row. */
uint64_t aggregate_outside(const struct aggregate *a, size_t counter, uint64_t *noise);

/*
 * The noise budget of a counter: how much of the variation of the total cost between runs each
 * other recorded counter explains. -ENOMEM.
 */
int aggregate_budget(const struct aggregate *a, size_t counter, struct budget *out,
		     struct tare_error *err);

#endif
