/* SPDX-License-Identifier: MIT */
/* The noise of several runs, shown. */
#ifndef REGIONS_AGGREGATE_VIEW_H
#define REGIONS_AGGREGATE_VIEW_H

#include "regions/aggregate.h"
#include "statistics/spread.h"
#include "noise/explain_view.h"

struct aggregate_shown {
	size_t top;	   /* labels; 0: all */
	const char *match; /* only labels that hold this text; NULL: all */
	const char *by;	   /* only this counter; NULL: all of them */
	const struct explained *explained; /* or NULL */
	const size_t *copy_of; /* by run: whose content it has, itself where no run before it has it; NULL: not looked */
};

void aggregate_text(struct text *out, const struct aggregate *a, const struct aggregate_shown *how, const struct style *s);
void aggregate_json(struct text *out, const struct aggregate *a, const struct aggregate_shown *how);
/* A line per label, counter and run. */
void aggregate_csv(struct text *out, const struct aggregate *a, const struct aggregate_shown *how);

/* Where an interval lies, in words. */
void aggregate_place_words(struct text *out, const struct aggregate *a, const struct aggregate_place *p);

/* A row's selves (or totals) over the runs that know them all; false: a run does not. */
struct aggregate_range {
	double min, median, max;
	double low, high; /* as `interval` says */
	enum interval_kind interval;
};
bool aggregate_range_of(const struct aggregate *a, const struct aggregate_row *row, size_t counter, bool total, struct aggregate_range *out);
/* Rows by the noise of their self in this counter, the greatest first; NULL: no memory. The caller frees it. */
const struct aggregate_row **aggregate_order(const struct aggregate *a, size_t counter);
static inline bool aggregate_wanted(const struct aggregate_shown *how, const char *counter)
{
	return !how->by || !__builtin_strcmp(how->by, counter);
}

#endif
