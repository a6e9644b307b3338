/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "output/escape.h"
#include "output/json.h"
#include "windows/windows_diff_view.h"

enum { EVENTS_SHOWN = GRID_COLUMNS - 3, STRETCHES_SHOWN = 20 };

static void put_name(struct text *out, const char *name)
{
	escape(out, name, strlen(name));
}

static void put_amount(struct text *out, const struct style *style, const struct windows_diff *d,
		       size_t event, double v, int digits)
{
	if (!strcmp(d->unit[event], "ns"))
		put_time(out, style, (uint64_t)(v + 0.5));
	else if (digits)
		put_real(out, style, v, digits);
	else
		put_count(out, style, (uint64_t)(v + 0.5));
}

static void put_change(struct text *out, double a, double b)
{
	if (a == b)
		text_add(out, "same");
	else if (a > 0)
		text_add(out, "%+.*f %%", fabs(b - a) < 0.1 * a ? 2 : 0, 100 * (b - a) / a);
	else
		text_add(out, "new");
}

static void put_side(struct text *out, const struct style *style, char letter, const char *file,
		     const struct windows_thread *t, uint64_t length, const struct windows_diff *d)
{
	text_add(out, " %s%c%s  ", ink_on(style, INK_STRONG), letter, ink_off(style));
	put_name(out, file);
	text_add(out, ": ");
	put_name(out, t->comm);
	text_add(out, " (thread %" PRIu64 "), ", t->number);
	put_amount(out, style, d, 0, (double)length, 0);
	text_add(out, " %s\n", d->name[0]);
}

static void put_totals(struct text *out, const struct windows_diff *d, const struct style *style)
{
	static const struct grid_column columns[] = {
		{ "event", false }, { "A", true }, { "B", true }, { "change", true }
	};
	struct grid g = grid_begin(columns, ARRAY_SIZE(columns));
	struct text cell = { 0 };

	for (size_t e = 0; e < d->n_events; e++) {
		grid_row(&g);
		grid_word(&g, 0, INK_PLAIN, d->name[e]);
		put_amount(&cell, style, d, e, d->total_a[e], 0);
		grid_put(&g, 1, INK_PLAIN, &cell);
		put_amount(&cell, style, d, e, d->total_b[e], 0);
		grid_put(&g, 2, INK_PLAIN, &cell);
		put_change(&cell, d->total_a[e], d->total_b[e]);
		grid_put(&g, 3, INK_PLAIN, &cell);
	}
	grid_end(out, &g, style, 1);
}

static void put_stretches(struct text *out, const struct windows_diff *d, const struct style *style)
{
	size_t events = d->n_events - 1 < EVENTS_SHOWN ? d->n_events - 1 : EVENTS_SHOWN;
	struct grid g = { .columns = (unsigned)(1 + events), .right = { false } };
	struct text cell = { 0 };

	if (!d->stretches)
		return;
	for (unsigned c = 1; c < g.columns; c++)
		g.right[c] = true;
	grid_row(&g);
	grid_word(&g, 0, INK_FAINT, "windows of A");
	for (size_t e = 0; e < events; e++) {
		grid_word(&g, (unsigned)(e + 1), INK_FAINT, d->name[e + 1]);
	}
	for (size_t i = 0; i < d->stretches && i < STRETCHES_SHOWN; i++) {
		const struct diff_stretch *s = &d->stretch[i];

		grid_row(&g);
		grid_add(&g, 0, INK_PLAIN, "%zu-%zu", s->first + 1, s->first + s->n);
		for (size_t e = 0; e < events; e++) {
			put_change(&cell, s->a[e + 1], s->b[e + 1]);
			grid_put(&g, (unsigned)(e + 1), INK_PLAIN, &cell);
		}
	}
	text_add(out, "\n Where B differs from A:\n");
	grid_end(out, &g, style, 1);
	if (d->stretches > STRETCHES_SHOWN)
		text_add(out, " and %zu more stretches\n", d->stretches - STRETCHES_SHOWN);
}

static const char *bound_word(enum diff_bound b)
{
	return b == DIFF_IS ? "" : b == DIFF_AT_LEAST ? "at least " : "at most ";
}

static void put_part(struct text *out, const struct windows_diff *d, bool exact,
		     const struct style *style)
{
	bool wide = d->part_windows > 1;

	text_add(out, " %sThey diverge %s ", ink_on(style, INK_STRONG), wide ? "between" : "at");
	put_amount(out, style, d, 0, (double)d->part_at, 0);
	if (wide) {
		text_add(out, " and ");
		put_amount(out, style, d, 0, (double)d->part_end, 0);
	}
	text_add(out, " %s (%swindow %zu)%s: %s ", d->name[0], wide ? "from " : "",
		 d->part_window + 1, ink_off(style), d->name[d->part_event]);
	put_amount(out, style, d, d->part_event, d->part_a, exact ? 0 : 1);
	text_add(out, " %s %s", style->utf8 ? "→" : "->", bound_word(d->part_bound));
	put_amount(out, style, d, d->part_event, d->part_b, exact ? 0 : 1);
	text_add(out, exact ? "\n" : ", on average over the windows from there\n");
}

/* "12 windows that both have, and in the rest after them" */
static void put_common(struct text *out, const struct windows_diff *d)
{
	if (d->aligned)
		text_add(out, "%zu window%s that both have%s", d->aligned,
			 d->aligned == 1 ? "" : "s",
			 d->rest_too ? ", and in the rest after them" : "");
	else
		text_add(out, "rest, which is shorter than a window");
}

void windows_diff_text(struct text *out, const struct windows_diff *d, bool exact,
		       const char *name_a, const char *name_b, const struct style *style)
{
	bool any = d->aligned || d->rest_too;

	text_add(out, "\n");
	put_side(out, style, 'A', name_a, d->a, d->length_a, d);
	put_side(out, style, 'B', name_b, d->b, d->length_b, d);
	text_add(out, "\n");
	if (d->parted)
		put_part(out, d, exact, style);
	else if (any) {
		text_add(out, " %s in %s ",
			 exact ? "The same, to the last count,"
			       : "No difference stands out of the noise",
			 d->aligned > 1 ? "all" : "the");
		put_common(out, d);
		text_add(out, ".\n");
	} else
		text_add(
			out,
			" There is no common window: no window of A ends where one of B does. Windows of equal length "
			"(--every) can be compared.\n");
	if (exact && d->places < d->aligned)
		text_add(
			out,
			" Windows of both end together at %zu place%s; elsewhere a count is only known to be between two of "
			"the other's.\n",
			d->places, d->places == 1 ? "" : "s");
	if (d->length_a != d->length_b) {
		text_add(out, " %s is longer by ", d->length_a > d->length_b ? "A" : "B");
		put_amount(out, style, d, 0,
			   (double)(d->length_a > d->length_b ? d->length_a - d->length_b
							      : d->length_b - d->length_a),
			   0);
		text_add(out, " %s.\n", d->name[0]);
	}
	if (!any)
		return;
	text_add(out, "\n In the ");
	put_common(out, d);
	text_add(out, ":\n");
	put_totals(out, d, style);
	put_stretches(out, d, style);
}

static void json_side(struct json *j, const char *key, const char *file,
		      const struct windows_thread *t, uint64_t length)
{
	json_object(j, key);
	json_string(j, "file", file);
	json_uint(j, "thread", t->number);
	json_string(j, "comm", t->comm);
	json_uint(j, "windows", t->whole);
	json_uint(j, "length", length);
	json_end(j);
}

/* By event, in the order of `events`. */
static void json_counts(struct json *j, const char *key, const double *v, size_t n)
{
	json_array(j, key);
	for (size_t e = 0; e < n; e++)
		if (v[e] == floor(v[e]) && v[e] >= 0 && v[e] < 0x1p63)
			json_uint(j, NULL, (uint64_t)v[e]);
		else
			json_real(j, NULL, v[e]); /* fractions of a window of B are possible */
	json_end(j);
}

void windows_diff_json(struct text *out, const struct windows_diff *d, bool exact,
		       const char *name_a, const char *name_b)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/windows-diff/1");
	json_string(&j, "quality", exact ? "exact" : "counted");
	json_side(&j, "a", name_a, d->a, d->length_a);
	json_side(&j, "b", name_b, d->b, d->length_b);
	json_array(&j, "events");
	for (size_t e = 0; e < d->n_events; e++)
		json_string(&j, NULL, d->name[e]);
	json_end(&j);
	json_array(&j, "units");
	for (size_t e = 0; e < d->n_events; e++)
		json_string(&j, NULL, d->unit[e]);
	json_end(&j);
	json_uint(&j, "windows_of_both", d->aligned);
	json_bool(&j, "rest_of_both", d->rest_too);
	json_uint(&j, "places", d->places);
	if (d->parted) {
		json_object(&j, "parted");
		json_uint(&j, "window", d->part_window + 1);
		json_uint(&j, "at", d->part_at);
		json_string(&j, "event", d->name[d->part_event]);
		json_real(&j, "a", d->part_a);
		json_real(&j, "b", d->part_b);
		if (exact) {
			json_uint(&j, "until", d->part_end);
			json_string(&j, "b_is",
				    d->part_bound == DIFF_IS                 ? "equal"
					    : d->part_bound == DIFF_AT_LEAST ? "at least"
									     : "at most");
		}
		json_end(&j);
	} else {
		json_null(&j, "parted");
	}
	json_counts(&j, "total_a", d->total_a, d->n_events);
	json_counts(&j, "total_b", d->total_b, d->n_events);
	json_array(&j, "stretches");
	for (size_t i = 0; i < d->stretches; i++) {
		const struct diff_stretch *s = &d->stretch[i];

		json_object(&j, NULL);
		json_uint(&j, "first_window", s->first + 1);
		json_uint(&j, "windows", s->n);
		json_uint(&j, "begin", s->begin);
		json_uint(&j, "end", s->end);
		json_counts(&j, "a", s->a, d->n_events);
		json_counts(&j, "b", s->b, d->n_events);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	json_into(out, &j);
}
