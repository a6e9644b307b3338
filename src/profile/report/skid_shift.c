/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "profile/report/report.h"
#include "profile/report/skid_shift.h"
#include "perfdata/perfdata_format.h"

enum { SURE = 2 /* times the margin: about 1 in 10,000 functions by chance */ };

static const struct perfdata_event *event_of(const struct samples *s, uint32_t column)
{
	const char *name = call_tree_name(s->call_tree, s->call_tree->column[column].name);

	for (size_t i = 0; i < perfdata_event_count(s->file); i++)
		if (!strcmp(perfdata_event_at(s->file, i)->name, name))
			return perfdata_event_at(s->file, i);
	return NULL;
}

static bool is_pair(const struct samples *s, uint32_t ordinary, uint32_t precise)
{
	const struct perfdata_event *a = event_of(s, ordinary), *b = event_of(s, precise);

	return a && b && a->attr.type == b->attr.type && a->attr.config == b->attr.config &&
		a->attr.config1 == b->attr.config1 && a->attr.config2 == b->attr.config2 &&
		!(a->attr.flags >> PD_ATTR_PRECISE_SHIFT & 3) &&
		b->attr.flags >> PD_ATTR_PRECISE_SHIFT & 3;
}

static int find_pair(struct skid_shift *out, const struct samples *s)
{
	for (uint32_t a = 0; a < s->call_tree->columns; a++)
		for (uint32_t b = 0; b < s->call_tree->columns; b++)
			if (s->call_tree->column[a].amount && s->call_tree->column[b].amount &&
			    is_pair(s, a, b)) {
				out->ordinary = a;
				out->precise = b;
				return 0;
			}
	return -ENOENT;
}

static int by_shift(const void *a, const void *b)
{
	const struct skid_shift_row *x = a, *y = b;
	double l = fabs(x->precise - x->ordinary), r = fabs(y->precise - y->ordinary);

	return l < r ? 1 : l > r ? -1 : x->function < y->function ? -1 : x->function > y->function;
}

int skid_shift_make(struct skid_shift *out, const struct samples *s, struct tare_error *err)
{
	struct report_options by = { .keys = REPORT_MODULE | REPORT_FUNCTION };
	const struct call_tree_column *a, *b;
	struct report all = { 0 };
	int ret;

	*out = (struct skid_shift){ 0 };
	ret = find_pair(out, s);
	if (ret < 0)
		return ret;
	a = &s->call_tree->column[out->ordinary];
	b = &s->call_tree->column[out->precise];
	by.column = out->ordinary;
	ret = report_make(&all, s->call_tree, &by, err);
	out->row = ret == 0 ? calloc(all.n + 1, sizeof(*out->row)) : NULL;
	if (ret == 0 && !out->row)
		ret = tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < all.n; i++) {
		const struct report_row *from = &all.row[i];
		struct skid_shift_row r = { .module = from->what.module,
					    .function = from->what.function };

		r.ordinary = (double)from->self[out->ordinary] / (double)a->amount;
		r.precise = (double)from->self[out->precise] / (double)b->amount;
		r.chance = hypot(report_margin(a, r.ordinary), report_margin(b, r.precise));
		out->functions += from->self[out->ordinary] || from->self[out->precise];
		if (fabs(r.precise - r.ordinary) > SURE * r.chance)
			out->row[out->n++] = r;
	}
	if (out->n)
		qsort(out->row, out->n, sizeof(*out->row), by_shift);
	report_free(&all);
	return ret;
}

void skid_shift_free(struct skid_shift *k)
{
	free(k->row);
	*k = (struct skid_shift){ 0 };
}
