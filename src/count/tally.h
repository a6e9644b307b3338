/* SPDX-License-Identifier: MIT */
/* Sums of readings from several places, per event and key: the counting half of a summary. */
#ifndef COUNT_TALLY_H
#define COUNT_TALLY_H

#include "count/summary.h"

struct tally_row {
	unsigned event;
	struct stat_key key;
	char why[256];     /* of the last reading that was unavailable or partial */
	bool of_core_type; /* see struct stat_row */
};

struct tally;

struct tally *tally_new(const struct summary_options *opt);
void tally_free(struct tally *t);
/* Rows appear with their first reading and remain, in order of appearance. */
const struct tally_row *tally_rows(const struct tally *t, size_t *n);

void tally_begin(struct tally *t); /* a run: all counts start from 0 */
int tally_reading(struct tally *t, const struct fact_reading *f); /* 0 or -ENOMEM */
void tally_next(struct tally *t); /* an interval: the readings become the previous ones */
/* One amount per row: since the beginning of the run, or (difference) since tally_next(). */
int tally_sums(struct tally *t, const struct encoding *enc, bool difference, struct amount *out);

#endif
