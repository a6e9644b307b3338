/* SPDX-License-Identifier: MIT */
/*
 * What the regions of recordings cost: per label how often, how much in all and by itself, and how the single ones lie.
 * Recordings are added one after another; the sums are over all of them.
 */
#ifndef REGIONS_REGIONS_H
#define REGIONS_REGIONS_H

#include "statistics/distribution.h"
#include "regions/labels.h"
#include "regions/region_halves.h"

#define REGIONS_ALL_THREADS UINT32_MAX

struct regions_options {
	bool per_thread;     /* rows are of a label in a thread */
	bool with_arguments; /* each set of arguments is a row of its own */
	bool subtract_own;   /* the recording's own cost is taken off each region, where it is known */
	const char *thread;  /* only threads of this number or name; NULL: all */
	const char *single;  /* keep the dearest single regions of this label; NULL: none */
	size_t singles;	     /* how many of them */
	const char *by;	     /* by this counter; NULL: the first */
};

/* What of a self, and of a total, the recording itself cost; and how far that can be off, in one and the same direction for all. */
struct regions_own {
	double self, total, self_off, total_off;
};

/* What few sums have: a recording may have a million labels. */
struct regions_sum_seldom {
	uint64_t again;	    /* beside total: of regions within one of their own label */
	uint64_t detached;  /* of self: of detached timings, which lie beside what the threads did */
	uint64_t unknown;   /* regions whose cost is not known, and is in none of the sums */
	uint64_t no_self;   /* regions of which only the self is not known; likewise */
	/* The costs below 0, which only what is taken off makes, without their sign. */
	struct distribution below;
};

/* One counter in the regions of a row. */
struct regions_sum {
	int64_t self;	    /* without the regions in it; less than 0 only where the counter stepped back */
	uint64_t total;	    /* a region within one of its own label counts once, in the outer */
	const struct regions_sum_seldom *seldom; /* never NULL */
	struct regions_own own;
	struct distribution each; /* the cost of each region that is whole, as shown: regions_single() */
};

struct regions_integers {
	uint64_t n, sum, min, max, last;
	bool beyond; /* the sum is more than `sum`, which is the most that fits */
};

/* What few rows have. */
struct regions_seldom {
	uint64_t recursive; /* of count: within another of the same label */
	uint64_t cut;	    /* of count: the begin or end is not in the recording; in the sums, not among the single ones */
	const struct region_unbalanced *unbalanced; /* of cut, and of timings that are in no count; NULL: nothing */
	uint64_t detached;  /* of count: timings that lie in nothing and count as their own self */
	uint64_t holes;	    /* of cut: because points were lost; what they took is the row's whose label is a gap */
	uint64_t instants;
	struct regions_integers integers;
};

struct regions_row {
	uint32_t label;	 /* in regions.labels */
	uint32_t thread; /* in regions.thread, or REGIONS_ALL_THREADS */
	uint64_t count;
	const struct regions_seldom *seldom; /* never NULL */
	struct regions_sum *sum;	     /* per counter */
	uint64_t open;			     /* while reading: how many are open */
};

struct regions_counter {
	char *name, *unit, *note; /* note: NULL without */
	enum tare_quality quality;
	struct {
		struct timeline_own own; /* of the first recording that knows it */
		uint64_t regions;
	} way[TIMELINE_WAYS];
	uint64_t whole;	  /* from each thread's first begin to its last end, summed */
	int64_t outside;  /* of whole: in no region; less than 0 only where the counter stepped back there */
	struct regions_own_whole {
		double whole, outside, whole_off, outside_off;
	} own; /* what of both the recording itself cost, where it is known */
	uint64_t detached; /* in selves, and not in whole */
	uint64_t backwards; /* regions in which it was less at the end than at the begin */
	uint64_t across; /* detached timings over two threads, from one to another of which it does not go on */
};

struct regions_thread {
	size_t recording;
	uint64_t pid, tid, lost;
	char *name;
	bool complete, goes_on, end_unknown; /* timeline_thread's */
};

struct regions_recording {
	char *path, *format, *command, *damage, *remark, *live; /* the last three: NULL without */
	uint64_t start_ns;
	struct timeline_machine machine;
};

/* One region or detached timing, kept because it is among the dearest. */
struct regions_single {
	uint32_t label;
	uint32_t around; /* the label it lies in; LABELS_NONE: in none */
	size_t thread, end_thread; /* where it begins and ends */
	uint64_t offset; /* of its begin in the file */
	uint64_t begin, cost; /* of the counter asked for; begin is from the thread's first begin of a region */
	int64_t self;
	struct regions_own own; /* in both; not taken off */
	bool self_known, cut, detached;
	bool begin_known; /* false of a timing that starts before that, or in a thread without one */
};

enum regions_key { REGIONS_SELF, REGIONS_TOTAL, REGIONS_COUNT, REGIONS_MEDIAN, REGIONS_P99, REGIONS_MAX, REGIONS_NAME };

struct regions {
	struct regions_options options;
	struct labels labels;
	struct regions_counter *counter;
	size_t n_counters, by;
	struct regions_recording *recording;
	size_t n_recordings;
	struct regions_thread *thread;
	size_t n_threads;
	struct regions_row *row;
	size_t n, room;
	bool sorted; /* so: */
	enum regions_key sorted_by;
	size_t sorted_counter;
	void *arena; /* of what belongs to rows */
	struct regions_single *single; /* the dearest first, once regions_finish() was called */
	size_t n_singles;
	uint64_t regions, points; /* gaps are none, nor are points that are put in */
	uint64_t lost;	  /* points that are missing, as far as that is known */
	uint64_t lost_handlers; /* of those: of signal handlers, which leave no gap */
	bool lost_unknown; /* and others of which it is not */
	bool counters_unknown; /* of a recording: what says which there are is not in what is left of it */
	uint64_t gaps;	   /* places where points are missing */
	uint64_t deepest;
	uint64_t left_out; /* timings of which options.thread leaves out one end: in no number */
	uint64_t unmatched; /* starts without a finish, the other way round, and second finishes */
};

void regions_init(struct regions *r, const struct regions_options *options);
/* -EINVAL where its counters are not those of the recordings before it, or an option names what it has not. */
int regions_add(struct regions *r, struct timeline *t, struct tare_error *err);
void regions_free(struct regions *r);

/* The greatest first, names from a to z; equal rows by name. By this counter. */
void regions_sort(struct regions *r, enum regions_key key, size_t counter);

/* As shown: with the own cost taken off, if the options say so. */
double regions_self(const struct regions *r, const struct regions_row *row, size_t counter);
/* Of that, what is part of `whole`: without detached timings. The share of a row is of this. */
double regions_nested_self(const struct regions *r, const struct regions_row *row, size_t counter);
double regions_total(const struct regions *r, const struct regions_row *row, size_t counter);
/* The nested selves of all rows and what is outside add up to the whole, but for what is not known. */
double regions_whole(const struct regions *r, size_t counter);
double regions_outside(const struct regions *r, size_t counter);
/* How many single regions a sum has; and the one at the share q of them, of which *error (may be NULL) is as in distribution.h. */
uint64_t regions_singles(const struct regions_sum *s);
int64_t regions_single(const struct regions_sum *s, double q, uint64_t *error);
/* Like total, but a region within one of its own label counts, too. */
static inline uint64_t regions_sum_each(const struct regions_sum *s)
{
	return s->total + s->seldom->again;
}
/* Their median, likewise: base/median.h. */
int64_t regions_median(const struct regions_sum *s, uint64_t *error);
/* Its name, for counter_named(). */
const char *regions_counter_name(const void *regions, size_t counter);
/* Is anything known of what the recording itself cost? */
bool regions_own_known(const struct regions_counter *k);

#endif
