/* SPDX-License-Identifier: MIT */
/* Show the noise of several runs. */
#ifndef REGIONS_AGGREGATE_VIEW_H
#define REGIONS_AGGREGATE_VIEW_H

#include "regions/aggregate.h"
#include "statistics/spread.h"
#include "noise/explain_view.h"

struct aggregate_shown {
	size_t top;                        /* labels; 0: all */
	const char *match;                 /* only labels that contain this text; NULL: all */
	const char *by;                    /* only this counter; NULL: all */
	const struct explained *explained; /* or NULL */
	/* per run: the first run with the same content, or itself; NULL: not checked */
	const size_t *copy_of;
};

void aggregate_text(struct text *out, const struct aggregate *a, const struct aggregate_shown *how,
		    const struct style *s);
/* tare/aggregate/1; CSV: a line per label, counter and run. */
void aggregate_document(struct text *out, enum output_format format, const struct aggregate *a,
			const struct aggregate_shown *how);

/* The place of an interval, in words. */
void aggregate_place_words(struct text *out, const struct aggregate *a,
			   const struct aggregate_place *p);

/* The self or total costs of a row in all runs; false if one is not known. */
struct aggregate_range {
	double min, median, max;
	double low, high; /* ends of `interval` */
	enum interval_kind interval;
};
bool aggregate_range_of(const struct aggregate *a, const struct aggregate_row *row, size_t counter,
			bool total, struct aggregate_range *out);
/*
 * The rows by the noise of their self cost in this counter, descending; NULL: out of memory. The
 * caller frees it.
 */
const struct aggregate_row **aggregate_order(const struct aggregate *a, size_t counter);
static inline bool aggregate_wanted(const struct aggregate_shown *how, const char *counter)
{
	return !how->by || !__builtin_strcmp(how->by, counter);
}

#endif
