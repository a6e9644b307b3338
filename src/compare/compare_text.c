/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/path.h"
#include "compare/compare_view.h"
#include "output/escape.h"

enum {
	LINES_SHOWN = 5,
	CODE_WIDTH = 50,
	OTHERS_NAMED = 3,  /* more events are only counted */
	NAME_MOST = 40,    /* bytes of a function's name */
	SMALL_PART = 1000, /* rows below this part of the largest change are added up */
};

const char compare_blind[] =
	"Not seen: the same instructions at other addresses or on other data can take another time "
	"(alignment, caches, branch prediction).";

/* ---- parts that all formats use ---- */

void compare_note(struct compare_shown *s, const char *fmt, ...)
{
	va_list args;

	if (s->notes == COMPARE_NOTES_MAX)
		return;
	va_start(args, fmt);
	if (vasprintf(&s->note[s->notes], fmt, args) >= 0)
		s->notes++;
	va_end(args);
}

static const char *words_of(const struct compare_event *e)
{
	static const struct {
		const char *name, *words;
	} rows[] = { { "instructions:u", "instructions" },
		     { "cpu-time", "CPU time" },
		     { "wall", "wall time" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(e->name, rows[i].name))
			return rows[i].words;
	return e->name;
}

void compare_put_change(struct text *out, const struct style *style, int64_t change)
{
	static const struct {
		double unit;
		const char *letter;
	} rows[] = { { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" }, { 1e3, "k" } };
	double size = fabs((double)change);

	text_add(out, "%s", change > 0 ? "+" : change < 0 ? "-" : "");
	for (size_t i = 0; size >= 1e4 && i < ARRAY_SIZE(rows); i++)
		if (size >= rows[i].unit) {
			text_add(out, "%.3g %s", size / rows[i].unit, rows[i].letter);
			return;
		}
	put_count(out, style, (uint64_t)size);
}

/* Enough digits that the interval, or the change, has two or three significant ones. */
static int digits_for(double v)
{
	return v >= 10 || v <= 0 ? 1 : v >= 0.1 ? 2 : (int)fmin(ceil(-log10(v)) + 1, 9);
}

void compare_put_percent(struct text *out, const struct style *style, const struct compare_event *e)
{
	double half = e->half_percent, size = fabs(e->percent);
	int digits = digits_for(isfinite(half) && half > 0 ? half : size);

	if (!isfinite(e->percent)) {
		text_add(out, "from 0");
		return;
	}
	if (e->change == 0 && !(half > 0)) {
		text_add(out, "0");
		return;
	}
	text_add(out, "%s%.*f", e->change > 0 ? "+" : e->change < 0 ? "-" : "", digits, size);
	if (half > 0)
		text_add(out, " %s %.*f", style->utf8 ? "±" : "+-", digits, half);
	text_add(out, " %%");
}

void compare_put_value(struct text *out, const struct style *style, const struct compare_event *e,
		       enum compare_side side)
{
	bool middle = e->by_equality || e->by_pairs;
	uint64_t value = middle ? e->median[side] : (uint64_t)(e->mean[side] + 0.5);

	if (e->time)
		put_time(out, style, value);
	else
		put_count(out, style, value);
}

const char *compare_row_state(const struct compare_row *r)
{
	return !r->change ? "" : !r->amount[0] ? "new" : !r->amount[1] ? "gone" : "";
}

size_t compare_rows_shown(const struct compare_shown *s)
{
	size_t n = s->cause ? s->cause->changed : 0;

	return s->limit && n > s->limit ? s->limit : n;
}

size_t compare_rows_large(const struct compare_shown *s)
{
	size_t n = compare_rows_shown(s);

	while (s->limit && n > 1 &&
	       llabs(s->cause->row[n - 1].change) < llabs(s->cause->row[0].change) / SMALL_PART)
		n--;
	return n;
}

void compare_others(const struct compare_cause *c, size_t from, int64_t sum[COMPARE_SIDES])
{
	for (int side = 0; side < COMPARE_SIDES; side++) {
		sum[side] = c->rest[side];
		for (size_t i = from; i < c->n; i++)
			sum[side] += (int64_t)c->row[i].amount[side];
	}
}

size_t compare_lines_shown(const struct compare_shown *s)
{
	size_t n = s->cause->lines.changed;

	return s->limit && n > LINES_SHOWN ? LINES_SHOWN : n;
}

void compare_other_lines(const struct compare_cause *c, size_t from, int64_t sum[COMPARE_SIDES])
{
	for (int side = 0; side < COMPARE_SIDES; side++) {
		sum[side] = (int64_t)c->row[0].amount[side];
		for (size_t i = 0; i < from; i++)
			sum[side] -= (int64_t)c->lines.line[i].amount[side];
	}
}

/* Without the middle of a long one, between whole characters. */
static void put_name(struct text *out, const char *s)
{
	size_t n = strlen(s), head = NAME_MOST / 2, tail = n - NAME_MOST / 2;

	if (n <= NAME_MOST) {
		text_put(out, s, n);
		return;
	}
	while (head && (s[head] & 0xc0) == 0x80)
		head--;
	while (tail < n && (s[tail] & 0xc0) == 0x80)
		tail++;
	text_add(out, "%.*s...%s", (int)head, s, s + tail);
}

/* The function that made most of it. */
static void put_where(struct text *out, const struct compare_shown *s,
		      const struct compare_event *by, const struct style *style)
{
	const struct compare_cause *c = s->cause;

	if (!c || by != compare_instructions(s->event, s->n))
		return;
	for (size_t i = 0; i < c->changed; i++)
		if ((c->row[i].change > 0) == (by->change > 0)) {
			text_add(out, ", in ");
			put_name(out, c->row[i].function);
			text_add(out, " ");
			compare_put_change(out, style, c->row[i].change);
			return;
		}
}

static void put_size(struct text *out, const struct compare_event *e, const struct style *style)
{
	if (!isfinite(e->percent)) {
		text_add(out, "%s", e->change > 0 ? "more" : "fewer");
		return;
	}
	if (e->by_equality)
		text_add(out, "%.*f %%", digits_for(fabs(e->percent)), fabs(e->percent));
	else
		text_add(out, "%.*f %s %.*f %%", digits_for(e->half_percent), fabs(e->percent),
			 style->utf8 ? "±" : "+-", digits_for(e->half_percent), e->half_percent);
	text_add(out, " %s", e->change > 0 ? "more" : e->time ? "less" : "fewer");
}

/* The events with this verdict, except the one that decided. */
static void put_others(struct text *out, const struct compare_shown *s,
		       const struct compare_event *by, enum compare_verdict verdict)
{
	const struct compare_event *first = NULL;
	size_t n = 0, shown = 0;

	for (size_t i = s->n; i-- > 0;)
		if (s->event[i].verdict == verdict && &s->event[i] != by) {
			first = &s->event[i];
			n++;
		}
	if (!first)
		return;
	text_add(out, "; %s: ", compare_verdict_word(first));
	for (const struct compare_event *e = first; n <= OTHERS_NAMED && e < s->event + s->n; e++)
		if (e->verdict == verdict && e != by)
			text_add(out, "%s%s", shown++ ? ", " : "", words_of(e));
	if (n > OTHERS_NAMED)
		text_add(out, "%zu events", n);
}

void compare_headline(struct text *out, const struct compare_shown *s, const struct style *style)
{
	const struct compare_event *by;
	enum compare_outcome o = compare_outcome(s->event, s->n, &by);

	text_add(out, "%s", compare_outcome_word(o));
	if (!by)
		return;
	text_add(out, ": ");
	if (o == OUTCOME_CANNOT_TELL) {
		text_add(out, "%s ", words_of(by));
		compare_put_percent(out, style, by);
		if (by->unconfirmed)
			text_add(out, ", a second set of runs did not confirm the change");
	} else if (o == OUTCOME_SAME && by->small) {
		put_size(out, by, style);
		text_add(out, " %s (exact), below the threshold", words_of(by));
	} else if (o == OUTCOME_SAME && by->by_equality) {
		compare_put_value(out, style, by, COMPARE_AFTER);
		text_add(out, " %s on both sides (exact)", words_of(by));
	} else if (o == OUTCOME_SAME) {
		text_add(out, "%s ", words_of(by));
		compare_put_percent(out, style, by);
		text_add(out, ", a change of less than %g %%", by->threshold);
	} else {
		put_size(out, by, style);
		text_add(out, " %s%s", words_of(by), by->by_equality ? " (exact)" : "");
	}
	put_where(out, s, by, style);
	if (o == OUTCOME_CANNOT_TELL)
		return;
	if (o != OUTCOME_SAME) /* which includes it */
		put_others(out, s, by, COMPARE_SAME);
	put_others(out, s, by, COMPARE_CANNOT_TELL);
}

bool compare_put_open(struct text *out, const struct compare_event *e, bool options)
{
	bool too_few = e->by_pairs && !isfinite(e->half_percent),
	     one = e->of[0].n < 2 || e->of[1].n < 2;

	if (e->verdict != COMPARE_CANNOT_TELL ||
	    (!e->unconfirmed && !too_few && !one && !e->needed))
		return false;
	text_add(out, "%s: ", e->name);
	if (e->unconfirmed)
		text_add(out, "the first set of runs showed a change, the second did not");
	else if (too_few)
		text_add(out, "the test of pairs needs at least %zu runs of each side", e->needed);
	else if (one)
		text_add(out, "one run of a side does not show its noise");
	else if (e->needed > COMPARE_RUNS_MAX)
		text_add(out, "more than %d runs of each side would be needed", COMPARE_RUNS_MAX);
	else
		text_add(
			out,
			"about %zu runs of each side%s would show whether the change exceeds %g %%",
			e->needed, options && e->by_pairs ? " (-r)" : "", e->threshold);
	if (options && too_few && !e->unconfirmed)
		text_add(out, " (-r %zu)", e->needed);
	return true;
}

static void explain_event(struct compare_shown *s, const struct compare_event *e)
{
	struct text open = { 0 };

	for (int side = 0; side < COMPARE_SIDES; side++)
		if (e->varies[side])
			compare_note(
				s,
				"%s does not repeat %s: it is compared by a test; tare diverge shows where two runs differ",
				e->name, compare_side_name(side));
	if (compare_put_open(&open, e, true))
		compare_note(s, "%s", open.s ? open.s : "");
	text_free(&open);
}

void compare_explain(struct compare_shown *s, const struct compare_measured *m)
{
	for (size_t i = 0; i < s->n; i++)
		explain_event(s, &s->event[i]);
	for (int side = 0; m && side < COMPARE_SIDES; side++)
		if (m->first_apart[side])
			compare_note(
				s,
				"The first run %s is left out: it differs from the next two, which agree; it may have created files that they found",
				compare_side_name(side));
	if (m && m->output_differs)
		compare_note(s,
			     "The two sides print different output: they may not do the same work");
	if (m && m->wait_status)
		compare_note(s, "The command fails, the same way on both sides");
}

/* ---- for people ---- */

static enum ink ink_of(const struct compare_event *e)
{
	return e->verdict == COMPARE_MORE && !e->small ? INK_BAD
		: e->verdict == COMPARE_LESS           ? INK_STRONG
		: e->verdict == COMPARE_CANNOT_TELL    ? INK_CAREFUL
						       : INK_PLAIN;
}

static void put_basis(struct text *out, const struct compare_event *e)
{
	const struct compare_values *v = e->again[0].n ? e->again : e->of;

	if (e->by_equality)
		text_add(out, "exact");
	else if (e->by_pairs && e->again[0].n)
		text_add(out, "%zu pairs, then %zu", e->of[0].n, e->again[0].n);
	else if (e->by_pairs)
		text_add(out, "%zu pair%s", e->of[0].n, e->of[0].n == 1 ? "" : "s");
	else if (v[0].n == v[1].n)
		text_add(out, "%zu run%s each%s", v[0].n, v[0].n == 1 ? "" : "s",
			 e->again[0].n ? ", twice" : "");
	else
		text_add(out, "%zu + %zu runs", v[0].n, v[1].n);
}

static void put_events(struct text *out, const struct compare_shown *s, const struct style *style)
{
	static const struct grid_column columns[] = { { NULL },          { "before", true },
						      { "after", true }, { "change", true },
						      { NULL },          { NULL, false, 1 } };
	struct grid g = grid_begin(columns, ARRAY_SIZE(columns));
	struct text t = { 0 };

	for (size_t i = 0; i < s->n; i++) {
		const struct compare_event *e = &s->event[i];

		grid_row(&g);
		escape_middle(&t, e->name, strlen(e->name), 30);
		grid_put(&g, 0, INK_PLAIN, &t);
		for (int side = 0; side < COMPARE_SIDES; side++) {
			compare_put_value(&t, style, e, side);
			grid_put(&g, 1 + side, INK_PLAIN, &t);
		}
		compare_put_percent(&t, style, e);
		grid_put(&g, 3, INK_PLAIN, &t);
		grid_add(&g, 4, ink_of(e), "%s%s", compare_verdict_word(e),
			 e->small ? ", small" : "");
		put_basis(&t, e);
		grid_put(&g, 5, INK_FAINT, &t);
	}
	grid_end(out, &g, style, 1);
}

static void put_row(struct grid *g, const struct style *style, int64_t before, int64_t after,
		    struct text *name, const char *state)
{
	const int64_t v[] = { after - before, before, after };
	struct text t = { 0 };

	grid_row(g);
	for (unsigned i = 0; i < ARRAY_SIZE(v); i++) {
		text_add(&t, "%s", v[i] < 0 ? "-" : !i && v[i] > 0 ? "+" : "");
		put_count(&t, style, (uint64_t)llabs(v[i]));
		grid_put(g, i, i ? INK_PLAIN : INK_STRONG, &t);
	}
	grid_put(g, 3, INK_PLAIN, name);
	grid_word(g, 4, INK_FAINT, state);
}

static const struct grid_column cause_columns[] = { { "instructions", true },
						    { "before", true, 2 },
						    { "after", true, 3 },
						    { "function" },
						    { NULL },
						    { "module", false, 1 } };

static void put_cause(struct text *out, const struct compare_shown *s, const struct style *style)
{
	const struct compare_cause *c = s->cause;
	struct grid g = grid_begin(cause_columns, ARRAY_SIZE(cause_columns));
	size_t shown = compare_rows_large(s);
	int64_t others[COMPARE_SIDES];
	struct text t = { 0 };

	text_add(out, "\n");
	for (size_t i = 0; i < shown; i++) {
		const struct compare_row *r = &c->row[i];

		escape_middle(&t, r->function, strlen(r->function),
			      style->width > 100 ? (size_t)style->width - 60 : 32);
		if (r->inlined)
			text_add(&t, " (inlined)");
		put_row(&g, style, (int64_t)r->amount[0], (int64_t)r->amount[1], &t,
			compare_row_state(r));
		escape_middle(&t, r->module, strlen(r->module), 24);
		grid_put(&g, 5, INK_FAINT, &t);
	}
	compare_others(c, shown, others);
	text_add(&t, "%zu other functions", c->n - shown);
	put_row(&g, style, others[0], others[1], &t, "");
	text_add(&t, "all");
	put_row(&g, style, (int64_t)c->total[0], (int64_t)c->total[1], &t, "");
	grid_end(out, &g, style, 1);
	if (c->by_samples)
		put_paragraph(out, style, INK_CAREFUL, "Some rows are estimated from samples%s%s.",
			      c->why ? ": " : "", c->why ? c->why : "");
}

static void put_line_name(struct text *t, const struct compare_line *l)
{
	bool new = !l->file[COMPARE_BEFORE], gone = !l->file[COMPARE_AFTER];
	enum compare_side side = gone ? COMPARE_BEFORE : COMPARE_AFTER;
	const char *file = path_base(l->file[side]);

	escape_middle(t, file, strlen(file), 32);
	text_add(t, ":%u", l->line[side]);
	if (!new && !gone && l->line[COMPARE_BEFORE] != l->line[COMPARE_AFTER])
		text_add(t, " (was %u)", l->line[COMPARE_BEFORE]);
}

/* Of the first function. */
static void put_lines(struct text *out, const struct compare_shown *s, const struct style *style)
{
	const struct compare_lines *lines = &s->cause->lines;
	size_t shown = compare_lines_shown(s);
	int64_t others[COMPARE_SIDES];
	struct text t = { 0 };
	struct grid g;

	if (!shown)
		return;
	g = grid_begin(cause_columns, ARRAY_SIZE(cause_columns));
	grid_word(&g, 5, INK_FAINT, "");
	text_add(out, "\n");
	text_add(&t, "line of ");
	escape_middle(&t, s->cause->row[0].function, strlen(s->cause->row[0].function), 40);
	grid_put(&g, 3, INK_FAINT, &t);
	for (size_t i = 0; i < shown; i++) {
		const struct compare_line *l = &lines->line[i];

		put_line_name(&t, l);
		put_row(&g, style, (int64_t)l->amount[0], (int64_t)l->amount[1], &t,
			!l->file[COMPARE_BEFORE]          ? "new"
				: !l->file[COMPARE_AFTER] ? "gone"
							  : "");
		if (l->text) {
			const char *code = l->text + strspn(l->text, " \t");

			escape_middle(&t, code, strlen(code), CODE_WIDTH);
			grid_put(&g, 5, INK_PLAIN, &t);
		}
	}
	compare_other_lines(s->cause, shown, others);
	text_add(&t, "rest of the function");
	put_row(&g, style, others[0], others[1], &t, "");
	grid_end(out, &g, style, 1);
}

/* A paragraph with names from documents or programs. */
static void put_escaped(struct text *out, const struct style *style, enum ink ink, const char *s)
{
	struct text line = { 0 };

	escape_cell(&line, s);
	put_paragraph(out, style, ink, "%s.", line.s ? line.s : "");
	text_free(&line);
}

static void put_test(struct text *out, const struct compare_shown *s, const struct style *style)
{
	struct text line = { 0 };
	bool exact = false;

	for (size_t i = 0; i < s->n; i++)
		exact |= s->event[i].by_equality;
	for (size_t i = 0; i < s->n; i++) {
		const struct compare_event *e = &s->event[i];

		if (e->by_equality)
			continue;
		text_add(&line,
			 "%s: %s; a change counts if it exceeds %g %% at a level of %g %%, in two "
			 "sets of runs",
			 words_of(e),
			 e->by_pairs            ? "pairs of neighbouring runs in random order"
				 : e->in_blocks ? "runs that were not interleaved"
						: "interleaved runs",
			 e->threshold, 100 * COMPARE_LEVEL);
		put_escaped(out, style, INK_FAINT, line.s ? line.s : "");
		text_free(&line);
		break;
	}
	if (exact)
		put_paragraph(out, style, INK_FAINT, "%s", compare_blind);
}

void compare_show_text(struct text *out, const struct compare_shown *s, const struct style *style)
{
	enum compare_outcome o = compare_outcome(s->event, s->n, NULL);
	enum ink ink = o == OUTCOME_SLOWER ? INK_BAD
		: o == OUTCOME_CANNOT_TELL ? INK_CAREFUL
					   : INK_STRONG;
	struct text line = { 0 };

	compare_headline(&line, s, style);
	text_add(out, "%s", ink_on(style, ink));
	escape_cell(out, line.s ? line.s : "");
	text_add(out, "%s\n\n", ink_off(style));
	text_free(&line);
	for (int side = 0; s->side[0].revision && side < COMPARE_SIDES; side++) {
		text_add(out, " %-7s ", side ? "after:" : "before:");
		escape_cell(out, s->side[side].revision);
		text_add(out, " (%.12s)\n%s", s->side[side].commit, side ? "\n" : "");
	}
	put_events(out, s, style);
	if (s->cause) {
		put_cause(out, s, style);
		put_lines(out, s, style);
	}
	text_add(out, "\n");
	for (size_t i = 0; i < s->notes; i++)
		put_escaped(out, style, INK_PLAIN, s->note[i]);
	put_test(out, s, style);
}
