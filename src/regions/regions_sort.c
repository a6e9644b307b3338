/* SPDX-License-Identifier: MIT */
/* Sort the rows of regions by the requested key. */
#include <stdlib.h>
#include <string.h>
#include "regions/regions.h"

/* The sort keys, computed once because quantiles are expensive. */
struct keyed {
	double key;
	uint32_t row;
};

#define NOTHING (-1e300) /* after all rows with a value */

static double key_of(const struct regions *r, const struct regions_row *row, enum regions_key key,
		     size_t c)
{
	const struct regions_sum *s = &row->sum[c];
	uint64_t n = r->n_counters ? regions_singles(s) : 0;

	if (key == REGIONS_NAME)
		return 0;
	if (key == REGIONS_COUNT || r->n_counters == 0)
		return (double)row->count;
	switch (key) {
	case REGIONS_SELF:
		return regions_self(r, row, c);
	case REGIONS_TOTAL:
		return regions_total(r, row, c);
	case REGIONS_MEDIAN:
		return n ? (double)regions_median(s, NULL) : NOTHING;
	case REGIONS_P99:
		return n ? (double)regions_single(s, 0.99, NULL) : NOTHING;
	case REGIONS_MAX:
		return n ? (double)regions_single(s, 1, NULL) : NOTHING;
	default:
		return 0;
	}
}

static int by_key(const void *pa, const void *pb, void *with)
{
	const struct keyed *a = pa, *b = pb;
	const struct regions *r = with;
	const struct regions_row *x = &r->row[a->row], *y = &r->row[b->row];
	const struct labels_entry *lx = &r->labels.entry[x->label],
				  *ly = &r->labels.entry[y->label];
	int record_path = strcmp(lx->name, ly->name);

	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;
	record_path = record_path ? record_path : strcmp(lx->kind, ly->kind);
	for (size_t i = 0; record_path == 0 && (lx->arg[i] || ly->arg[i]); i++) {
		if (!lx->arg[i] || !ly->arg[i])
			return lx->arg[i] ? 1 : -1;
		record_path = strcmp(lx->arg[i], ly->arg[i]);
	}
	return record_path ? record_path : (x->thread > y->thread) - (x->thread < y->thread);
}

/* Move each row to its place in the order, following the cycles of the permutation. */
static void reorder(struct regions *r, struct keyed *order)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct regions_row first = r->row[i];
		uint32_t at = i;

		while (order[at].row != i) {
			uint32_t from = order[at].row;

			r->row[at] = r->row[from];
			order[at].row = at;
			at = from;
		}
		r->row[at] = first;
		order[at].row = at;
	}
}

void regions_sort(struct regions *r, enum regions_key key, size_t counter)
{
	struct keyed *order;

	if (r->sorted && r->sorted_by == key && r->sorted_counter == counter)
		return;
	order = calloc(r->n + 1, sizeof(*order));
	for (uint32_t i = 0; order && i < r->n; i++)
		order[i] = (struct keyed){ key_of(r, &r->row[i], key, counter), i };
	if (order) {
		qsort_r(order, r->n, sizeof(*order), by_key, r);
		reorder(r, order);
		r->sorted = true;
		r->sorted_by = key;
		r->sorted_counter = counter;
	}
	free(order);
}
