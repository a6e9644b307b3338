/* SPDX-License-Identifier: MIT */
/*
 * Shared by all views of a table of counts: the order of rows, and the number that represents
 * several runs.
 */
#include "stat/stat_view.h"

bool stat_with_overhead(const struct stat_row *r)
{
	return r->added_work && r->quality != TARE_UNAVAILABLE;
}

bool stat_next_row(const struct stat_table *t, size_t *step, size_t *row)
{
	while (*step < 2 * t->n) {
		bool overhead = *step >= t->n; /* the second pass */

		*row = (*step)++ % t->n;
		if (stat_with_overhead(&t->row[*row]) == overhead)
			return true;
	}
	return false;
}

uint64_t stat_typical_time(const struct spread *of, bool *mean)
{
	*mean = of->median == 0 && of->max > 0;
	return *mean ? (uint64_t)(of->mean + 0.5) : of->median;
}

unsigned stat_runs_each(const struct stat_table *t, const struct stat_about *about)
{
	unsigned rounds = about->batches ? about->batches : 1;

	return (t->runs - t->left_out + rounds - 1) / rounds;
}
