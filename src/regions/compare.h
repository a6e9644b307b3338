/* SPDX-License-Identifier: MIT */
/*
 * Compare the recordings before and after a change: the difference per label, and whether it
 * exceeds the variation between runs.
 */
#ifndef REGIONS_COMPARE_H
#define REGIONS_COMPARE_H

#include "statistics/significance.h"
#include "regions/regions.h"

enum compare_side { COMPARE_BEFORE, COMPARE_AFTER, COMPARE_SIDES };
enum compare_what { COMPARE_SELF, COMPARE_TOTAL, COMPARE_SUM, COMPARE_WHATS };

/* One quantity of one label and counter. */
struct compare_change {
	bool known; /* known in every run */
	double mean[COMPARE_SIDES], min[COMPARE_SIDES], max[COMPARE_SIDES];
	struct change is; /* the result from the values alone */
	bool beyond;      /* exceeds the noise; known and not lost */
	bool lost;        /* not judged, because lost points may be the cause */
	bool names;       /* not judged, because regions with lost names may be the cause */
};

struct compare_row {
	uint32_t label;  /* LABELS_NONE: outside all labels; then total and sum equal self */
	uint64_t *count; /* per run: the runs before, then those after */
	double *value;   /* (what * n_counters + counter) * n_runs + run */
	bool *known;     /* per counter: known in every run */
	bool lost;       /* a run may have lost points of it, which affects all its changes */
	bool names;      /* a run may have regions of it among those without a name */
	/* on that side, a run has no other regions of it, so its cost is not known */
	bool unknown[COMPARE_SIDES];
	struct compare_change *change; /* what * n_counters + counter */
};

/* What a run lost. */
struct compare_loss {
	bool *label; /* by the run's labels: points of it may be lost; NULL: no label is affected */
	bool threads;   /* there are threads with lost points */
	bool elsewhere; /* points of labels that the run does not show may be lost, too */
	bool names;     /* there are regions with lost names */
	/*
	 * per counter: the cost that lost regions of signal handlers may have added to the self
	 * cost of other labels; NULL: none
	 */
	double *hidden;
};

struct compare_counter {
	const char *name, *unit;
	enum tare_quality quality;
};

struct compare {
	struct labels labels;
	struct regions *run; /* the runs before, then those after */
	/*
	 * common to all runs; without counters one, "count": the number of regions, used as self,
	 * total and sum
	 */
	struct compare_counter *counter;
	size_t n[COMPARE_SIDES], n_runs, n_counters;
	bool counts_only; /* that: there are no counters */
	struct compare_row *row, all;
	struct compare_row outside; /* of all: in no region */
	/* included in self costs but not in all: all equals the other self costs plus outside */
	struct compare_row async;
	size_t n_rows;
	bool tested;               /* there are enough runs to estimate the noise */
	struct drift drift;        /* over the start times of the runs */
	bool one_thread;           /* no recording has points of more than one thread */
	struct compare_loss *loss; /* per run */
};

struct compare_options {
	bool with_arguments, subtract_own;
};

/* paths: the recordings before, then those after. */
int compare(struct compare *c, char *const *paths, size_t n_before, size_t n_after,
	    const struct compare_options *options, struct tare_error *err);
void compare_free(struct compare *c);
/* Does any run have a value of it for this counter? */
bool compare_row_is_there(const struct compare *c, const struct compare_row *row, size_t counter);
/* Its cost on one side or both is not known, so its change is not either. */
bool compare_unknown(const struct compare_row *row);
/* Not judged, because there are too few runs: CHANGE_FEW, CHANGE_SMALL. */
bool compare_too_few(const struct compare_change *c);

/* Not judged, because it may be a drift: CHANGE_ORDER. */
bool compare_by_order(const struct compare_change *c);

enum compare_key { COMPARE_BY_CHANGE, COMPARE_BY_PERCENT, COMPARE_BY_SURE, COMPARE_BY_NAME };
void compare_sort(struct compare *c, enum compare_key key, size_t counter);
/* The name of a counter of the comparison, for counter_named(). */
const char *compare_counter_name(const void *compare, size_t counter);
/* In percent of the value before; infinite for a new label. */
double compare_percent(const struct compare_change *c);

#endif
