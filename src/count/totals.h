/* SPDX-License-Identifier: MIT */
/* Sums of readings from several places, per event and key: the counting half of a summary. */
#ifndef COUNT_TOTALS_H
#define COUNT_TOTALS_H

#include "count/summary.h"

struct totals_row {
	unsigned event;
	struct stat_key key;
	char why[256];     /* of the last reading that was unavailable or partial */
	bool of_core_type; /* see struct stat_row */
};

struct totals;

struct totals *totals_new(const struct summary_options *opt);
void totals_free(struct totals *t);
/* Rows appear with their first reading and remain, in order of appearance. */
const struct totals_row *totals_rows(const struct totals *t, size_t *n);

void totals_begin(struct totals *t); /* a run: all counts start from 0 */
int totals_reading(struct totals *t, const struct fact_reading *f); /* 0 or -ENOMEM */
void totals_next(struct totals *t); /* an interval: the readings become the previous ones */
/* One amount per row: since the beginning of the run, or (difference) since totals_next(). */
int totals_sums(struct totals *t, const struct encoding *enc, bool difference, struct amount *out);

#endif
