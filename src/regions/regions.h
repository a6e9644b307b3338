/* SPDX-License-Identifier: MIT */
/*
 * The cost of the regions in recordings: per label the count, the total, the self cost and the
 * distribution of single regions. Recordings are added one after another; the sums cover all of
 * them.
 */
#ifndef REGIONS_REGIONS_H
#define REGIONS_REGIONS_H

#include "statistics/distribution.h"
#include "regions/labels.h"
#include "regions/async_spans.h"

#define REGIONS_ALL_THREADS UINT32_MAX

struct regions_options {
	bool per_thread;     /* one row per label and thread */
	bool with_arguments; /* one row per set of arguments */
	bool subtract_own; /* subtract the recording overhead from each region, where it is known */
	const char *thread; /* only threads of this number or name; NULL: all */
	const char *single; /* keep the most expensive single regions of this label; NULL: none */
	size_t singles;     /* how many of them */
	const char *by;     /* sort those by this counter; NULL: the first */
};

/*
 * Recording overhead included in a self and a total cost, and its largest error. The error has the
 * same sign for all regions.
 */
struct regions_own {
	double self, total, self_off, total_off;
};

/* Fields that few sums need. They are separate because a recording may have a million labels. */
struct regions_sum_rare_fields {
	uint64_t again; /* not in total: cost of regions nested in a region of the same label */
	/* of self: async spans, which are not nested in the thread's regions */
	uint64_t async;
	uint64_t unknown; /* regions with unknown cost; no sum includes them */
	uint64_t no_self; /* regions with unknown self cost only; the self sum excludes them */
	/* Magnitudes of negative costs. Only subtracting the overhead makes a cost negative. */
	struct distribution below;
};

/* The sums of one counter over the regions of a row. */
struct regions_sum {
	int64_t self;   /* without nested regions; negative only if the counter stepped back */
	uint64_t total; /* nested regions of the same label count once, in the outermost */
	const struct regions_sum_rare_fields *rare; /* never NULL */
	struct regions_own own;
	struct distribution each; /* cost of each complete region, as shown: regions_single() */
};

struct regions_integers {
	uint64_t n, sum, min, max, last;
	bool beyond; /* the sum overflowed; `sum` is the largest value that fits */
};

/* Fields that few rows need. */
struct regions_rare_fields {
	uint64_t recursive; /* of count: nested in a region of the same label */
	/* of count: begin or end is missing; included in the sums, not in the distribution */
	uint64_t cut;
	/* details of cut, and of timings not in count; NULL: none */
	const struct region_unbalanced *unbalanced;
	uint64_t async; /* of count: async spans; each is its own self cost */
	/* of cut: due to lost points; their cost is in the row of the gap's label */
	uint64_t holes;
	uint64_t instants;
	struct regions_integers integers;
};

struct regions_row {
	uint32_t label;  /* in regions.labels */
	uint32_t thread; /* in regions.thread, or REGIONS_ALL_THREADS */
	uint64_t count;
	const struct regions_rare_fields *rare; /* never NULL */
	struct regions_sum *sum;                /* per counter */
	uint64_t open;                          /* while reading: number of open regions */
};

struct regions_counter {
	char *name, *unit, *note; /* note: NULL without */
	enum tare_quality quality;
	struct {
		struct timeline_own own; /* from the first recording that knows it */
		uint64_t regions;
	} record_path[TIMELINE_PATHS];
	uint64_t whole; /* from each thread's first begin to its last end, summed */
	/* of whole: in no region; negative only if the counter stepped back there */
	int64_t outside;
	struct regions_own_whole {
		double whole, outside, whole_off, outside_off;
	} own;              /* recording overhead in both, where it is known */
	uint64_t async;     /* in self costs, but not in whole */
	uint64_t backwards; /* regions in which the counter decreased */
	uint64_t across;    /* async spans across two threads, for a counter that is per thread */
};

struct regions_thread {
	size_t recording;
	uint64_t pid, tid, lost;
	char *name;
	bool complete, goes_on, end_unknown; /* timeline_thread's */
};

struct regions_recording {
	/* damage, remark, live: NULL if absent */
	char *path, *format, *command, *damage, *remark, *live;
	uint64_t start_ns;
	struct timeline_machine machine;
};

/* A region or async span that is among the most expensive. */
struct regions_single {
	uint32_t label;
	uint32_t around;           /* label of the enclosing region; LABELS_NONE: none */
	size_t thread, end_thread; /* where it begins and ends */
	uint64_t offset;           /* of its begin, in the file */
	/* of the selected counter; begin is relative to the first region of the thread */
	uint64_t begin, cost;
	int64_t self;
	struct regions_own own; /* of both; not subtracted */
	bool self_known, cut, async;
	/* false: the timing starts before the thread's first region, or there is none */
	bool begin_known;
};

enum regions_key {
	REGIONS_SELF,
	REGIONS_TOTAL,
	REGIONS_COUNT,
	REGIONS_MEDIAN,
	REGIONS_P99,
	REGIONS_MAX,
	REGIONS_NAME
};

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
	bool sorted; /* by the next two: */
	enum regions_key sorted_by;
	size_t sorted_counter;
	void *arena;                   /* memory of the rows */
	struct regions_single *single; /* the most expensive first, after regions_finish() */
	size_t n_singles;
	uint64_t regions, points; /* without gaps and without points that the reader inserted */
	uint64_t lost;            /* missing points, as far as known */
	uint64_t lost_handlers;   /* of those: lost by signal handlers, which leave no gap */
	bool lost_unknown;        /* an unknown number of other points is missing */
	bool counters_unknown;    /* a damaged recording lost its list of counters */
	uint64_t gaps;            /* places where points are missing */
	uint64_t deepest;
	/* timings with one end in a thread that options.thread excludes; not counted */
	uint64_t left_out;
	uint64_t unmatched; /* starts without a finish, finishes without a start, second finishes */
};

void regions_init(struct regions *r, const struct regions_options *options);
/*
 * -EINVAL if the counters differ from those of earlier recordings, or if an option names something
 * that the recording does not have.
 */
int regions_add(struct regions *r, struct timeline *t, struct tare_error *err);
void regions_free(struct regions *r);

/* Descending by this counter; names ascending. Equal rows are sorted by name. */
void regions_sort(struct regions *r, enum regions_key key, size_t counter);

/* As shown: the overhead is subtracted if the options say so. */
double regions_self(const struct regions *r, const struct regions_row *row, size_t counter);
/*
 * The part of the self cost that is in `whole`: without async spans. A row's percentage is
 * this value divided by the whole.
 */
double regions_nested_self(const struct regions *r, const struct regions_row *row, size_t counter);
double regions_total(const struct regions *r, const struct regions_row *row, size_t counter);
/*
 * The whole equals the nested self costs of all rows plus the outside cost, except for unknown
 * costs.
 */
double regions_whole(const struct regions *r, size_t counter);
double regions_outside(const struct regions *r, size_t counter);
/*
 * The number of single regions of a sum, and their quantile q. *error (may be NULL) is described in
 * distribution.h.
 */
uint64_t regions_singles(const struct regions_sum *s);
int64_t regions_single(const struct regions_sum *s, double q, uint64_t *error);
/* Like total, but nested regions of the same label count, too. */
static inline uint64_t regions_sum_each(const struct regions_sum *s)
{
	return s->total + s->rare->again;
}
/* The median of single regions; see base/median.h. */
int64_t regions_median(const struct regions_sum *s, uint64_t *error);
/* The counter's name, for counter_named(). */
const char *regions_counter_name(const void *regions, size_t counter);
/* Is the recording overhead known? */
bool regions_own_known(const struct regions_counter *k);

#endif
