/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "regions/regions_merged.h"

enum kind { KIND_ACTIVITY, KIND_BLOCKED, KIND_LOAD, KIND_HASHING, KIND_HIT, KIND_HITS };

static enum kind kind_of(const char *kind)
{
	static const struct {
		const char *name;
		enum kind is;
	} kinds[] = {
		{ "QueryBlocked", KIND_BLOCKED },
		{ "IncrementalLoadResult", KIND_LOAD },
		{ "IncrementalResultHashing", KIND_HASHING },
		{ "QueryCacheHit", KIND_HIT },
		{ "QueryCacheHitCount", KIND_HITS },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kind, kinds[i].name))
			return kinds[i].is;
	return KIND_ACTIVITY;
}

struct named {
	const char *name, *kind;
	const struct regions_row *row;
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void add_counter(struct regions_merged_sum *to, const struct regions *r,
			const struct regions_row *row, size_t c, enum kind kind)
{
	const struct regions_sum *s = &row->sum[c];
	double self = regions_self(r, row, c);
	double time = (double)regions_sum_each(s) - (r->options.subtract_own ? s->own.total : 0);

	to->unknown += s->rare->unknown;
	to->self += self;
	to->nested += regions_nested_self(r, row, c);
	if (kind != KIND_HASHING)
		to->time += time;
	if (kind == KIND_BLOCKED)
		to->blocked += time;
	if (kind == KIND_LOAD)
		to->load += self;
	if (kind == KIND_HASHING)
		to->hashing += self;
}

/*
 * The row of a name. If hits were recorded one by one and as sums, the sums include each of them.
 * false: the name has neither regions nor hits; nothing was added.
 */
static bool merge(struct regions_merged_row *to, const struct regions *r, const struct named *of,
		  size_t n)
{
	uint64_t single = 0;
	bool any = false;

	to->name = of->name;
	for (size_t i = 0; i < n; i++) {
		const struct regions_row *row = of[i].row;
		enum kind kind = kind_of(of[i].kind);

		any |= row->count || kind == KIND_HIT || kind == KIND_HITS;
		if (kind == KIND_ACTIVITY)
			to->count += row->count;
		else if (kind == KIND_HIT)
			single += row->rare->instants;
		else if (kind == KIND_HITS)
			to->hits = __builtin_add_overflow(to->hits, row->rare->integers.sum,
							  &to->hits)
				? UINT64_MAX
				: to->hits;
		for (size_t c = 0; row->count && c < r->n_counters; c++)
			add_counter(&to->sum[c], r, row, c, kind);
	}
	if (!to->hits)
		to->hits = single;
	return any;
}

int regions_merge(struct regions_merged *m, const struct regions *r, const char *match,
		  enum regions_key key, size_t counter, struct tare_error *err)
{
	struct named *of = calloc(r->n + 1, sizeof(*of));
	size_t n = 0;

	*m = (struct regions_merged){ .row = calloc(r->n + 1, sizeof(*m->row)),
				      .sums = calloc(r->n * r->n_counters + 1, sizeof(*m->sums)) };
	if (!of || !m->row || !m->sums) {
		free(of);
		regions_merged_free(m);
		return tare_fail_nomem(err);
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct labels_entry *l = &r->labels.entry[r->row[i].label];

		if (!match || strstr(l->name, match))
			of[n++] = (struct named){ l->name, l->kind, &r->row[i] };
	}
	qsort(of, n, sizeof(*of), by_name);
	for (size_t i = 0, end; i < n; i = end) {
		struct regions_merged_row *row = &m->row[m->n];

		for (end = i + 1; end < n && !strcmp(of[end].name, of[i].name); end++)
			;
		row->sum = m->sums + m->n * r->n_counters;
		m->n += merge(row, r, of + i, end - i);
	}
	free(of);
	regions_merged_sort(m, key, counter);
	return 0;
}

struct order {
	enum regions_key key;
	size_t counter;
};

static double key_of(const struct regions_merged_row *row, const struct order *by)
{
	switch (by->key) {
	case REGIONS_COUNT:
		return (double)row->count;
	case REGIONS_TOTAL:
		return row->sum[by->counter].time;
	default:
		return row->sum[by->counter].self;
	}
}

static int compare(const void *a, const void *b, void *with)
{
	const struct order *by = with;
	double x = by->key == REGIONS_NAME ? 0 : key_of(a, by),
	       y = by->key == REGIONS_NAME ? 0 : key_of(b, by);

	if (x != y)
		return x < y ? 1 : -1;
	return strcmp(((const struct regions_merged_row *)a)->name,
		      ((const struct regions_merged_row *)b)->name);
}

void regions_merged_sort(struct regions_merged *m, enum regions_key key, size_t counter)
{
	struct order by = { key, counter };

	qsort_r(m->row, m->n, sizeof(*m->row), compare, &by);
}

void regions_merged_free(struct regions_merged *m)
{
	free(m->row);
	free(m->sums);
	*m = (struct regions_merged){ 0 };
}
