/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "history/history_view.h"
#include "output/escape.h"

/* ---- parts ---- */

static void put_number(struct text *out, const struct style *style, const struct history_number *n)
{
	if (n->whole)
		put_count(out, style, n->count);
	else
		history_put_number(out, n);
}

static void put_signed_percent(struct text *out, double percent)
{
	text_add(out, "%s", percent > 0 ? "+" : percent < 0 ? "-" : "");
	put_percent(out, fabs(percent));
}

/* "+60,000 (+40 %)"; of noisy values, "+4.1 % (p = 0.0002)" */
static void put_change(struct text *out, const struct history_values *v,
		       const struct history_point *p, const struct style *style)
{
	bool negative;
	struct history_number n = history_change(&p->from, &p->to, &negative);
	double percent = history_percent(p);

	if (!v->group[p->group].exact) {
		if (isnan(percent))
			text_add(out, "from 0");
		else
			put_signed_percent(out, percent);
		text_add(out, " (p = %.2g)", p->p);
		return;
	}
	text_add(out, "%s", negative ? n.whole ? "-" : "" : "+");
	put_number(out, style, &n);
	if (isnan(percent))
		return;
	text_add(out, " (");
	put_signed_percent(out, percent);
	text_add(out, ")");
}

static void put_name(struct text *out, const struct history_series *s)
{
	escape_cell(out, s->benchmark);
	text_add(out, ": ");
	escape_cell(out, s->event);
	if (*s->region) {
		text_add(out, " in ");
		escape_cell(out, s->region);
	}
	if (*s->unit) {
		text_add(out, " (");
		escape_cell(out, s->unit);
		text_add(out, ")");
	}
}

static void put_commit(struct text *out, const struct history_commit *c)
{
	escape_middle(out, c->name, (size_t)history_short(c->name), 40);
	text_add(out, c->dirty ? " +" : "");
}

static void put_date(struct text *out, const struct history_commit *c)
{
	struct text time = { 0 };

	history_put_time(&time, c->time);
	text_add(out, "%.10s", time.s ? time.s : "");
	text_free(&time);
}

static void finish_grid(struct text *out, struct grid *g, const struct style *style)
{
	grid_end(out, g, style, 1);
}

/* ---- the list ---- */

void history_list_text(struct text *out, const struct history_list *l, const struct style *style)
{
	static const struct grid_column columns[] = { { "benchmark" },    { "event" },
						      { "values", true }, { "added last", true },
						      { "commit" },       { "date" } };
	struct grid g = grid_begin(columns, ARRAY_SIZE(columns));
	struct text t = { 0 };

	for (size_t i = 0; i < l->n; i++) {
		const struct history_listed *row = &l->row[i];
		const struct history_series *s = &row->series;

		grid_row(&g);
		escape_middle(&t, s->benchmark, strlen(s->benchmark), 60);
		grid_put(&g, 0, INK_PLAIN, &t);
		escape_middle(&t, s->event, strlen(s->event), 40);
		grid_put(&g, 1, INK_PLAIN, &t);
		grid_count(&g, 2, INK_PLAIN, style, row->values);
		put_number(&t, style, &row->value);
		if (*s->unit) {
			text_add(&t, " ");
			escape_cell(&t, s->unit);
		}
		grid_put(&g, 3, INK_PLAIN, &t);
		put_commit(&t, &row->commit);
		grid_put(&g, 4, INK_PLAIN, &t);
		put_date(&t, &row->commit);
		grid_put(&g, 5, INK_PLAIN, &t);
	}
	finish_grid(out, &g, style);
}

/* ---- series, text ---- */

static size_t count_changes(const struct history_values *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++)
		n += v->point[i].change;
	return n;
}

static void put_row(struct grid *g, const struct history_values *v, size_t i,
		    const struct style *style)
{
	const struct history_point *p = &v->point[i];
	struct text t = { 0 };
	enum ink ink = p->change ? INK_STRONG : INK_PLAIN;

	grid_row(g);
	put_commit(&t, &p->commit);
	grid_put(g, 0, ink, &t);
	put_date(&t, &p->commit);
	grid_put(g, 1, ink, &t);
	put_number(&t, style, &p->value);
	grid_put(g, 2, ink, &t);
	if (p->change) {
		put_change(&t, v, p, style);
		grid_put(g, 3, ink, &t);
	}
	if (v->groups > 1) {
		text_add(&t, "%zu", p->group + 1);
		grid_put(g, 4, p->unlike ? INK_CAREFUL : ink, &t);
	}
	escape_middle(&t, p->commit.subject, strlen(p->commit.subject), 60);
	grid_put(g, 5, ink, &t);
}

static void put_groups(struct text *out, const struct history_values *v, const struct style *style)
{
	struct text words = { 0 }, shown = { 0 };

	for (size_t i = 1; i < v->groups; i++) {
		history_put_difference(&words, &v->group[0].conditions, &v->group[i].conditions);
		escape_cell(&shown, words.s ? words.s : "");
		put_paragraph(out, style, INK_CAREFUL, "Conditions 1 and %zu differ in %s.", i + 1,
			      shown.s ? shown.s : "");
		text_free(&words);
		text_free(&shown);
	}
	if (v->groups > 1)
		put_paragraph(
			out, style, INK_PLAIN,
			"Values are compared only under the same conditions. To compare across "
			"a difference, measure one of the commits under both.");
}

/* The last change, if commits between it and the value before it were not measured. */
static void put_bisect(struct text *out, const struct history_values *v, const struct style *style)
{
	for (size_t i = v->n; i-- > 0;) {
		const struct history_commit *to = &v->point[i].commit, *from;

		if (!v->point[i].change)
			continue;
		from = &v->point[v->point[i].before].commit;
		if (v->group[v->point[i].group].exact &&
		    history_real(&v->point[i].to) > history_real(&v->point[i].from) &&
		    history_short(to->name) == 12 && history_short(from->name) == 12 &&
		    strcmp(from->name, to->name) != 0 && strcmp(from->name, to->parent) != 0)
			put_paragraph(
				out, style, INK_PLAIN,
				"The commits between %.12s and %.12s were not measured. To find the commit "
				"that made the change: tare bisect %.12s..%.12s --build COMMAND -- COMMAND.",
				from->name, to->name, from->name, to->name);
		return;
	}
}

static void put_series(struct text *out, const struct history_values *v, const struct style *style)
{
	const struct grid_column columns[] = {
		{ "commit" },
		{ "date", false, 1 },
		{ "value", true },
		{ count_changes(v) ? "change" : NULL },
		{ v->groups > 1 ? "conditions" : NULL, true },
		{ "subject", false, 2 },
	};
	struct grid g = grid_begin(columns, ARRAY_SIZE(columns));

	text_add(out, "%s", ink_on(style, INK_STRONG));
	put_name(out, &v->series);
	text_add(out, "%s\n\n", ink_off(style));
	for (size_t i = 0; i < v->n; i++)
		put_row(&g, v, i, style);
	finish_grid(out, &g, style);
	text_add(out, "\n");
	put_groups(out, v, style);
	put_bisect(out, v, style);
}

void history_text(struct text *out, const struct history_values *v, size_t n,
		  const struct style *style)
{
	for (size_t i = 0; i < n; i++) {
		text_add(out, i ? "\n" : "");
		put_series(out, &v[i], style);
	}
}

/* ---- the values of a commit ---- */

static void put_signed(struct text *out, const struct style *style, const struct history_row *r)
{
	bool more = r->after >= r->before;

	text_add(out, "%s", r->after == r->before ? "" : more ? "+" : "-");
	put_count(out, style, more ? r->after - r->before : r->before - r->after);
}

static void put_function(struct grid *g, const struct style *style, const struct history_row *r,
			 bool both)
{
	struct text t = { 0 };

	grid_row(g);
	if (both) {
		put_signed(&t, style, r);
		grid_put(g, 0, INK_STRONG, &t);
		grid_count(g, 1, INK_PLAIN, style, r->before);
	}
	grid_count(g, 2, INK_PLAIN, style, r->after);
	escape_middle(&t, *r->name ? r->name : "other code",
		      strlen(*r->name ? r->name : "other code"), 60);
	grid_put(g, 3, *r->name ? INK_PLAIN : INK_FAINT, &t);
	escape_middle(&t, r->module, strlen(r->module), 30);
	grid_put(g, 4, INK_FAINT, &t);
}

/* The rows add up to the instructions of the measurement. */
static void put_functions(struct text *out, const struct history_rows *rows,
			  const struct style *style)
{
	const struct grid_column columns[] = {
		{ rows->both ? "change" : NULL, true },
		{ rows->both ? "before" : NULL, true },
		{ rows->both ? "now" : "instructions", true },
		{ "function", false, 1 },
		{ "module", false, 2 },
	};
	struct grid g = grid_begin(columns, ARRAY_SIZE(columns));
	size_t shown = history_rows_shown(rows, HISTORY_ROWS);
	struct history_row others;

	while (rows->both && shown && rows->row[shown - 1].before == rows->row[shown - 1].after)
		shown--; /* it did not change */
	others = history_other_rows(rows, shown);
	for (size_t i = 0; i < shown; i++)
		put_function(&g, style, &rows->row[i], rows->both);
	put_function(&g, style, &others, rows->both);
	text_add(out, "\n");
	finish_grid(out, &g, style);
}

static void put_finding(struct text *out, const struct history_measured *d,
			const struct style *style)
{
	struct text shown = { 0 };

	if (d->finding.verdict) {
		escape_cell(&shown, d->finding.verdict);
		if (*d->finding.why) {
			text_add(&shown, ": ");
			escape_cell(&shown, d->finding.why);
		}
		text_add(out, "\n");
		put_paragraph(out, style, INK_PLAIN, "Verdict: %s.", shown.s ? shown.s : "");
	}
	text_free(&shown);
	if (d->rows.n)
		put_functions(out, &d->rows, style);
}

static void put_detail(struct text *out, const struct history_measured *d,
		       const struct style *style)
{
	const struct history_point *p = d->p;

	text_add(out, "%s", ink_on(style, INK_STRONG));
	put_name(out, &d->v->series);
	text_add(out, "%s\n\n ", ink_off(style));
	put_number(out, style, &p->value);
	if (p->change) {
		text_add(out, "  ");
		put_change(out, d->v, p, style);
		text_add(out, " from ");
		put_commit(out, &d->v->point[p->before].commit);
	}
	text_add(out, "\n");
	if (d->first)
		put_finding(out, d, style);
}

void history_detail_text(struct text *out, const struct history_measured *d, size_t n,
			 const struct style *style)
{
	for (size_t i = 0; i < n; i++) {
		const struct history_commit *c = &d[i].p->commit;

		if (!i || strcmp(c->name, d[i - 1].p->commit.name) != 0) {
			text_add(out, "%s", i ? "\n" : "");
			put_commit(out, c);
			text_add(out, " ");
			put_date(out, c);
			text_add(out, " ");
			escape_cell(out, c->subject);
			text_add(out, "\n");
		}
		text_add(out, "\n");
		put_detail(out, &d[i], style);
	}
}
