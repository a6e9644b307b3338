/* SPDX-License-Identifier: MIT */
/* Recordings before a change and after it: per label what changed, and whether by more than the runs differ anyway. */
#ifndef REGIONS_COMPARE_H
#define REGIONS_COMPARE_H

#include "statistics/changes.h"
#include "regions/regions.h"

enum compare_side { COMPARE_BEFORE, COMPARE_AFTER, COMPARE_SIDES };
enum compare_what { COMPARE_SELF, COMPARE_TOTAL, COMPARE_SUM, COMPARE_WHATS };

/* One quantity of one label and counter. */
struct compare_change {
	bool known;	  /* in every run */
	double mean[COMPARE_SIDES], min[COMPARE_SIDES], max[COMPARE_SIDES];
	struct change is; /* what it is by the values alone */
	bool beyond;	  /* and known, and not lost */
	bool lost;	  /* points that were lost may be all there is to it: it is not judged */
	bool names;	  /* regions whose names were lost may be: neither */
};

struct compare_row {
	uint32_t label; /* LABELS_NONE: of no label; its total and sum are its self */
	uint64_t *count; /* per run: those before, then those after */
	double *value;	 /* (what * n_counters + counter) * n_runs + run */
	bool *known;	 /* per counter: in every run */
	bool lost;	 /* points of it may be missing in a run: so of all its changes */
	bool names;	 /* regions of it may be among those without a name in a run */
	bool unknown[COMPARE_SIDES]; /* and are nowhere else in a run of that side: what it cost there is not known */
	struct compare_change *change; /* what * n_counters + counter */
};

/* What a run lost. */
struct compare_loss {
	bool *label;	/* by the run's labels: points of it may be among that; NULL: of none */
	bool threads;	/* there are threads whose points are not all there */
	bool elsewhere; /* and of labels that the run does not show */
	bool names;	/* there are regions whose names are lost */
	double *hidden; /* per counter: what regions of handlers may have cost that are lost, and is now in other labels' self; NULL: no such */
};

struct compare_counter {
	const char *name, *unit;
	enum tare_quality quality;
};

struct compare {
	struct labels labels;
	struct regions *run; /* those before, then those after */
	struct compare_counter *counter; /* theirs; where they have none one, "count": how often labels ran, which is self, total and sum */
	size_t n[COMPARE_SIDES], n_runs, n_counters;
	bool counts_only; /* that */
	struct compare_row *row, all;
	struct compare_row outside;  /* of all: in no region */
	struct compare_row detached; /* in selves, and not in all: the others' selves and outside add up to it */
	size_t n_rows;
	bool tested; /* there are runs enough to know of noise */
	struct drift drift; /* by the times at which the runs began */
	bool one_thread; /* no recording has points of more */
	struct compare_loss *loss; /* per run */
};

struct compare_options {
	bool with_arguments, subtract_own;
};

/* paths: those before, then those after. */
int compare(struct compare *c, char *const *paths, size_t n_before, size_t n_after, const struct compare_options *options, struct tare_error *err);
void compare_free(struct compare *c);
/* Is there anything of it, by this counter, in any run? */
bool compare_row_is_there(const struct compare *c, const struct compare_row *row, size_t counter);
/* What it cost on one side, or both, is not known: nor is its change. */
bool compare_unknown(const struct compare_row *row);
/* It is not judged for want of runs: CHANGE_FEW, CHANGE_SMALL. */
bool compare_too_few(const struct compare_change *c);

/* It is not judged, as it may be a drift: CHANGE_ORDER. */
bool compare_by_order(const struct compare_change *c);

enum compare_key { COMPARE_BY_CHANGE, COMPARE_BY_PERCENT, COMPARE_BY_SURE, COMPARE_BY_NAME };
void compare_sort(struct compare *c, enum compare_key key, size_t counter);
/* Of a counter of the comparison: for counter_named(). */
const char *compare_counter_name(const void *compare, size_t counter);
/* In percent of what was before; infinite for what is new. */
double compare_percent(const struct compare_change *c);

#endif
