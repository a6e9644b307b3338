/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>
#include "output/csv.h"
#include "output/escape.h"
#include "regions/region_cells.h"
#include "regions/regions_merged_view.h"

enum {
	COL_SELF,
	COL_SHARE,
	COL_TIME,
	COL_COUNT,
	COL_HITS,
	COL_BLOCKED,
	COL_LOAD,
	COL_HASHING,
	COL_LABEL,
	COL_NOTE,
	COLS
};

_Static_assert((int)COLS <= (int)GRID_COLUMNS, "they fit");

static bool counter_shown(const struct regions *r, size_t c)
{
	return !r->options.by || c == r->by;
}

static size_t rows_shown(const struct regions_merged *m, const struct regions_shown *how)
{
	return how->top && how->top < m->n ? how->top : m->n;
}

static double share(const struct regions *r, const struct regions_merged_sum *sum, size_t c)
{
	return regions_whole(r, c) > 0 ? sum->nested / regions_whole(r, c) : 0;
}

static void put_some(struct grid *g, unsigned col, const struct style *s, const char *unit,
		     double amount)
{
	struct text t = { 0 };

	if (amount != 0)
		put_amount(&t, s, unit, amount);
	grid_put(g, col, INK_PLAIN, &t);
}

static void put_number(struct grid *g, unsigned col, const struct style *s, uint64_t n)
{
	struct text t = { 0 };

	if (n)
		put_count(&t, s, n);
	grid_put(g, col, INK_PLAIN, &t);
}

static void amounts(struct grid *g, const struct regions *r, const struct regions_merged_sum *sum,
		    size_t c, const struct style *s)
{
	const char *unit = r->counter[c].unit;
	struct text t = { 0 };

	grid_amount(g, COL_SELF, INK_STRONG, s, unit, sum->self);
	if (regions_whole(r, c) > 0)
		text_add(&t, "%.1f %%", 100 * share(r, sum, c));
	grid_put(g, COL_SHARE, INK_FAINT, &t);
	grid_amount(g, COL_TIME, INK_PLAIN, s, unit, sum->time);
	put_some(g, COL_BLOCKED, s, unit, sum->blocked);
	put_some(g, COL_LOAD, s, unit, sum->load);
	put_some(g, COL_HASHING, s, unit, sum->hashing);
}

static void put_row(struct grid *g, const struct regions *r, const struct regions_merged_row *row,
		    size_t c, const struct style *s)
{
	struct text t = { 0 };

	grid_row(g);
	if (c < r->n_counters)
		amounts(g, r, &row->sum[c], c, s);
	put_number(g, COL_COUNT, s, row->count);
	put_number(g, COL_HITS, s, row->hits);
	escape(&t, row->name, strlen(row->name));
	grid_put(g, COL_LABEL, INK_PLAIN, &t);
	if (c < r->n_counters && row->sum[c].unknown) {
		put_count(&t, s, row->sum[c].unknown);
		text_add(&t, " without a count");
		grid_put(g, COL_NOTE, INK_CAREFUL, &t);
	}
}

/* Columns in which some row has an amount; self, time, count and label always. */
static void heads(struct grid *g, const struct regions *r, const struct regions_merged *m, size_t n,
		  size_t c)
{
	static const char *const names[] = { "self",    "%",    "time",    "count", "hits",
					     "blocked", "load", "hashing", "label" };
	bool has[COLS] = { [COL_COUNT] = true, [COL_LABEL] = true };

	for (unsigned i = COL_SELF; i <= COL_TIME; i++)
		has[i] = c < r->n_counters;
	for (size_t i = 0; i < n; i++) {
		has[COL_HITS] |= m->row[i].hits > 0;
		if (c == r->n_counters)
			continue;
		has[COL_BLOCKED] |= m->row[i].sum[c].blocked != 0;
		has[COL_LOAD] |= m->row[i].sum[c].load != 0;
		has[COL_HASHING] |= m->row[i].sum[c].hashing != 0;
	}
	grid_row(g);
	for (unsigned i = 0; i < COL_NOTE; i++)
		if (has[i])
			grid_word(g, i, INK_FAINT, names[i]);
}

/* The last rows: the names not shown, the counts outside all regions, and the total. */
static void put_rest(struct grid *g, const struct regions *r, const struct regions_shown *how,
		     size_t n, size_t c, const struct style *s)
{
	const struct regions_merged *m = how->merged;
	struct regions_merged_sum rest = { 0 };
	struct text t = { 0 };

	if (n < m->n) {
		for (size_t i = n; c < r->n_counters && i < m->n; i++) {
			rest.self += m->row[i].sum[c].self;
			rest.nested += m->row[i].sum[c].nested;
		}
		grid_row(g);
		if (c < r->n_counters) {
			grid_amount(g, COL_SELF, INK_FAINT, s, r->counter[c].unit, rest.self);
			grid_add(g, COL_SHARE, INK_FAINT, "%.1f %%", 100 * share(r, &rest, c));
		}
		text_add(&t, "(%zu more; --top 0 shows all)", m->n - n);
		grid_put(g, COL_LABEL, INK_FAINT, &t);
	}
	if (how->match || c == r->n_counters || !r->counter[c].whole)
		return;
	grid_row(g);
	grid_amount(g, COL_SELF, INK_FAINT, s, r->counter[c].unit, regions_outside(r, c));
	grid_add(g, COL_SHARE, INK_FAINT, "%.1f %%",
		 100 * regions_outside(r, c) / regions_whole(r, c));
	grid_word(g, COL_LABEL, INK_FAINT, "(in no region)");
	grid_row(g);
	grid_amount(g, COL_SELF, INK_FAINT, s, r->counter[c].unit, regions_whole(r, c));
	grid_word(g, COL_LABEL, INK_FAINT,
		  r->n_threads > 1 ? "(all, summed over the threads)" : "(all)");
}

/* c == r->n_counters: a recording without counters. */
static void table(struct text *out, const struct regions *r, const struct regions_shown *how,
		  size_t c, const struct style *s)
{
	static const unsigned drop[] = { COL_NOTE, COL_LOAD, COL_BLOCKED, COL_HASHING,
					 COL_TIME, COL_HITS, COL_COUNT };
	struct grid g = { .columns = COLS, .drops = sizeof(drop) / sizeof(drop[0]) };
	size_t n = rows_shown(how->merged, how);

	memcpy(g.drop, drop, sizeof(drop));
	for (unsigned i = 0; i < COL_LABEL; i++)
		g.right[i] = true;
	heads(&g, r, how->merged, n, c);
	for (size_t i = 0; i < n; i++)
		put_row(&g, r, &how->merged->row[i], c, s);
	put_rest(&g, r, how, n, c, s);
	text_add(out, "\n");
	if (c < r->n_counters) {
		text_add(out, " %s", ink_on(s, INK_STRONG));
		escape(out, r->counter[c].name, strlen(r->counter[c].name));
		text_add(out, "%s   %s%s%s\n\n", ink_off(s), ink_on(s, INK_FAINT),
			 tare_quality_name(r->counter[c].quality), ink_off(s));
	}
	grid_end(out, &g, s, 1);
}

void regions_merged_text(struct text *out, const struct regions *r, const struct regions_shown *how,
			 const struct style *s)
{
	if (r->n_counters == 0)
		table(out, r, how, 0, s);
	for (size_t c = 0; c < r->n_counters; c++) {
		if (!counter_shown(r, c))
			continue;
		regions_merged_sort(how->merged, how->key, c);
		table(out, r, how, c, s);
	}
}

void regions_merged_json(struct json *j, const struct regions *r, const struct regions_shown *how)
{
	json_array(j, "merged");
	for (size_t i = 0; i < rows_shown(how->merged, how); i++) {
		const struct regions_merged_row *row = &how->merged->row[i];

		json_object(j, NULL);
		json_string(j, "label", row->name);
		json_uint(j, "count", row->count);
		json_uint(j, "hits", row->hits);
		json_object(j, "counters");
		for (size_t c = 0; c < r->n_counters; c++) {
			const struct regions_merged_sum *sum = &row->sum[c];

			if (!counter_shown(r, c))
				continue;
			json_object(j, r->counter[c].name);
			json_string(j, "unit", r->counter[c].unit);
			table_string(j, "quality", tare_quality_name(r->counter[c].quality));
			json_amount(j, "self", sum->self);
			if (regions_whole(r, c) > 0)
				json_real(j, "share", share(r, sum, c));
			else
				table_real(j, "share", 0);
			json_amount(j, "time", sum->time);
			json_amount(j, "blocked", sum->blocked);
			json_amount(j, "load", sum->load);
			json_amount(j, "hashing", sum->hashing);
			json_uint(j, "unknown", sum->unknown);
			json_end(j);
		}
		json_end(j);
		json_end(j);
	}
	json_end(j);
}
