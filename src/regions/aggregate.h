/* SPDX-License-Identifier: MIT */
/*
 * Several recordings of the same work: how far their regions lie apart (macro noise), and each single interval between two
 * neighbouring points of a thread (micro noise); and where the runs did not do the same.
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
	size_t extremes;    /* how many distinct values of each list */
	size_t differences; /* how many are kept with their place */
};

/* An interval: from the point `from` to its neighbour `to`, both in every run. */
struct aggregate_place {
	size_t thread;
	uint64_t index; /* of `to` among the points of the first run */
	enum timeline_kind from_kind, to_kind;
	uint32_t from, to, around; /* around: what the interval lies in; LABELS_NONE: nothing */
};

/* A value and how many intervals have it; of one, the place. */
struct aggregate_extreme {
	uint64_t value, n;
	struct aggregate_place place;
};

struct aggregate_list {
	struct aggregate_extreme *entry; /* the most extreme first */
	size_t n;
	bool largest;
	uint64_t bar; /* what is less extreme has no place */
	size_t hint[AGGREGATE_HINTS]; /* by value: where one like it stood last */
};

/* Noise of one counter that goes with another one. */
struct aggregate_cause {
	size_t counter;	 /* the other one */
	uint64_t noise;	 /* the sum of ranges in the intervals in which the other one differs between runs too */
	uint64_t n;	 /* those intervals */
	uint64_t exact;	 /* of those: between any two runs the difference is one whole number times the other's */
	uint64_t seen;	 /* all intervals in which the other one differs between runs */
	struct aggregate_fit {
		double xy, xx;		    /* sums over these: within each, of differences from the mean of the runs */
		double xy_xy, xx_xy, xx_xx; /* and of products of an interval's two with each other */
	} fit;
	double per;	 /* of this counter for one of the other's, by least squares; with... */
	double half;	 /* ...half of its 95 % confidence interval, if there is enough for one: */
	bool judged;
	bool known;	 /* judged, and it is not 0 */
};

struct aggregate_counter {
	char *name, *unit;
	enum tare_quality quality;
	uint64_t intervals;   /* compared in all runs */
	uint64_t not_counted; /* in which a run has no value, or it went back */
	uint64_t zero;	      /* with the same value in all runs */
	uint64_t noise;	      /* the sum of the ranges */
	uint64_t firsts, firsts_noise; /* of these: noisy ones that end where their thread is for the first time, and their noise */
	uint64_t bucket[AGGREGATE_BUCKETS];
	struct aggregate_list least, most; /* durations: the least of the least, the most of the most */
	struct aggregate_list steady, noisy; /* ranges: most less least over the runs */
	struct aggregate_cause *cause;
	size_t n_causes;
	bool differs;
	struct aggregate_place first; /* with differs: the first interval that is not the same in all runs, of the first thread that has one */
};

/* One label: what it cost in each run. */
struct aggregate_amount {
	int64_t self;
	uint64_t total, unknown; /* unknown: regions and timings whose cost is not known, and is in neither */
};

struct aggregate_tally {
	uint64_t count;
	uint64_t open; /* while reading */
	struct aggregate_amount amount[]; /* per counter */
};

struct aggregate_row {
	uint32_t label;
	void *tallies; /* per run: aggregate_tally() */
	uint64_t *detached; /* per run, of count: timings that lie beside what the threads did; NULL: none */
	uint64_t *noise; /* per counter: ranges of the intervals that lie directly in it */
	uint64_t *compared; /* per counter: those intervals */
};

struct aggregate_difference {
	size_t thread;
	uint32_t around, before; /* what it lies in; the last point that all have; LABELS_NONE */
	enum timeline_kind before_kind;
	bool lost; /* they did not come together again */
	struct {
		uint64_t index, passed, offset;
		bool ends;	/* the thread: there is no next point */
		uint32_t label; /* of the next point; LABELS_NONE: none, or lost points */
		enum timeline_kind kind;
	} *run;
};

struct aggregate_thread {
	uint64_t tid; /* of the first run that has it */
	char *name;
	size_t runs; /* that have it */
	uint64_t steps, differences;
	bool gave_up;
};

struct aggregate_run {
	char *path, *format, *command, *damage, *live; /* damage, live: timeline_info's */
	bool one_cpu; /* timeline_info's */
	uint64_t regions, points, alone; /* alone: points that not all runs have */
	uint64_t gaps, lost;		 /* places where points are missing; points that are, as far as that is known */
	bool lost_unknown;		 /* and others of which it is not */
	struct timeline_machine machine;
	size_t threads;
	struct aggregate_amount detached[TIMELINE_COUNTERS_MAX]; /* of all rows: of detached timings */
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
	size_t n_differences; /* those kept */
	uint64_t differences, intervals;
};

/* All at once, for their points are read side by side. -EINVAL where their counters differ. */
int aggregate(struct aggregate *a, struct timeline **timelines, size_t n, const struct aggregate_options *options, struct tare_error *err);
void aggregate_free(struct aggregate *a);

/* What a run has of a label. */
static inline struct aggregate_tally *aggregate_tally(const struct aggregate *a, const struct aggregate_row *row, size_t run)
{
	struct aggregate_tally *t;

	return (void *)((char *)row->tallies + run * (sizeof(*t) + a->n_counters * sizeof(*t->amount)));
}

/* The intervals that lie in no region, and what they differ by, which is in no row. */
uint64_t aggregate_outside(const struct aggregate *a, size_t counter, uint64_t *noise);

/* The noise budget of a counter: of what all labels cost in each run, by what the recordings count beside it. -ENOMEM. */
int aggregate_budget(const struct aggregate *a, size_t counter, struct budget *out, struct tare_error *err);

#endif
