/* SPDX-License-Identifier: MIT */
/*
 * Text output of windows: a summary, each thread's series as small plots, its phases, and rows if
 * they are few.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/signal_name.h"
#include "output/escape.h"
#include "count/partial.h"
#include "output/sparkline.h"
#include "windows/windows_view.h"

enum { NAME_WIDTH = 26, RANGE_WIDTH = 24, PLOT_LEAST = 16, PLOT_MOST = 100, RUNS_SHOWN = 4 };

/* A column of numbers: a metric, or an event per 1000 of the first one. */
struct series {
	bool metric, time; /* time: of a clock, in ns */
	size_t at;
	char name[200];
	unsigned digits;
};

static double value_of(const struct windows_table *t, const struct series *s,
		       const struct windows_row *row)
{
	return s->metric ? windows_metric(t, row, s->at) : windows_rate(t, row, s->at);
}

/* exact/loads/ as loads, because all events are the engine's. */
static void short_name(char *out, size_t room, const char *name)
{
	size_t n = strlen(name);

	if (!strncmp(name, "exact/", 6) && n > 7 && name[n - 1] == '/')
		snprintf(out, room, "%.*s", (int)(n - 7), name + 6);
	else
		snprintf(out, room, "%s", name);
}

/* Metrics first; then each counted event except the first. */
static size_t list_series(const struct windows_table *t, struct series *out, size_t room)
{
	size_t n = 0;

	for (size_t m = 0; m < t->n_metrics && n < room; m++, n++) {
		out[n] = (struct series){ .metric = true, .at = m, .digits = t->metric[m].digits };
		snprintf(out[n].name, sizeof(out[n].name), "%s%s", t->metric[m].name,
			 t->metric[m].percent ? ", %" : "");
	}
	for (size_t e = t->n_events > 1; e < t->n_events && n < room; e++, n++) {
		char name[160];

		out[n] = (struct series){ .at = e, .digits = 2, .time = windows_is_clock(t, e) };
		short_name(name, sizeof(name), t->event[e].name);
		snprintf(out[n].name, sizeof(out[n].name),
			 !e                           ? "%s / us"
				 : windows_of_time(t) ? "%s / ms"
						      : "%s / 1000",
			 name);
	}
	return n;
}

static unsigned digits_for(double v, unsigned digits)
{
	return fabs(v) >= 100 ? 0 : fabs(v) >= 10 ? 1 : digits;
}

static void put_number(struct text *out, const struct style *s, double v, unsigned digits)
{
	if (isnan(v))
		text_add(out, "-");
	else
		put_real(out, s, v, digits_for(v, digits));
}

static void pad_to(struct text *out, size_t from, size_t width)
{
	size_t shown = out->s ? shown_width(out->s + from) : 0;

	text_add(out, "%*s", shown < width ? (int)(width - shown) : 1, "");
}

static void put_value(struct text *out, const struct style *style, const struct series *s, double v)
{
	if (s->time && !isnan(v))
		put_time(out, style, (uint64_t)(v + 0.5));
	else
		put_number(out, style, v, s->digits);
}

static bool prints_alike(const struct style *style, const struct series *s, double a, double b)
{
	struct text x = { 0 }, y = { 0 };
	bool alike;

	put_value(&x, style, s, a);
	put_value(&y, style, s, b);
	alike = x.s && y.s && !strcmp(x.s, y.s);
	text_free(&x);
	text_free(&y);
	return alike;
}

static void put_plot(struct text *out, const struct windows_table *t,
		     const struct windows_thread *th, const struct series *s,
		     const struct style *style)
{
	const size_t used = NAME_WIDTH + RANGE_WIDTH + 4, width = (size_t)style->width;
	size_t n = th->whole, most = width > used + PLOT_LEAST ? width - used : PLOT_LEAST, cells,
	       from;
	double sum[PLOT_MOST] = { 0 }, of[PLOT_MOST] = { 0 }, low = INFINITY, high = -INFINITY;
	bool flat;

	most = most < PLOT_MOST ? most : PLOT_MOST;
	cells = n < most ? n : most;
	for (size_t i = 0, c = 0; i < n; i++) {
		double v = value_of(t, s, windows_row(t, th, i));

		while (i >= (c + 1) * n / cells)
			c++;
		if (isnan(v))
			continue;
		low = v < low ? v : low;
		high = v > high ? v : high;
		sum[c] += v;
		of[c]++;
	}
	text_add(out, "   ");
	from = out->len;
	text_add(out, "%s", s->name);
	pad_to(out, from, NAME_WIDTH);
	if (low <= high) {
		put_value(out, style, s, low);
		text_add(out, style->utf8 ? " … " : " .. ");
		put_value(out, style, s, high);
	} else {
		text_add(out, "-");
	}
	pad_to(out, from, NAME_WIDTH + RANGE_WIDTH);
	/* Differences that the numbers do not show are not drawn either. */
	flat = low < high && prints_alike(style, s, low, high);
	for (size_t c = 0; c < cells; c++)
		put_spark(out, of[c] > 0 ? sum[c] / of[c] : NAN, low, flat ? low : high, style);
	text_add(out, "\n");
}

static void put_runs(struct text *out, const struct windows_thread *th, unsigned phase)
{
	unsigned shown = 0, more = 0;

	for (size_t i = 0; i < th->phases.segments; i++) {
		const struct segment *s = &th->phases.segment[i];

		if (s->phase != phase)
			continue;
		if (shown == RUNS_SHOWN) {
			more++;
			continue;
		}
		text_add(out, "%s%zu-%zu", shown++ ? ", " : "", s->first + 1, s->first + s->n);
	}
	if (more)
		text_add(out, " and %u more", more);
}

/* Report columns that were left out for lack of space. */
static void put_left_out(struct text *out, const struct grid *g, const struct style *style)
{
	unsigned n = grid_left_out(g, style, 3);

	if (n)
		text_add(
			out,
			"   %s%u more column%s: too wide for this terminal (--format csv has all)%s\n",
			ink_on(style, INK_FAINT), n, n == 1 ? "" : "s", ink_off(style));
}

/* The phases of a thread: their fraction, their windows, and the mean of each series. */
static void put_phases(struct text *out, const struct windows_table *t,
		       const struct windows_thread *th, const struct series *series,
		       size_t n_series, const struct style *style)
{
	size_t n = th->whole;
	struct grid g = { .columns = 3 };
	struct text cell = { 0 };

	if (th->phases.phases < 2)
		return;
	for (size_t k = 0; k < n_series && g.columns < GRID_COLUMNS; k++)
		g.right[g.columns++] = true;
	g.right[1] = true;
	for (unsigned d = g.columns; d-- > 3;)
		g.drop[g.drops++] = d;
	grid_row(&g);
	grid_word(&g, 0, INK_FAINT, "phase");
	grid_word(&g, 1, INK_FAINT, "of all");
	grid_word(&g, 2, INK_FAINT, "windows");
	for (unsigned c = 3; c < g.columns; c++) {
		grid_word(&g, c, INK_FAINT, series[c - 3].name);
	}
	for (unsigned p = 0; p < th->phases.phases; p++) {
		double sum[GRID_COLUMNS] = { 0 }, of[GRID_COLUMNS] = { 0 };
		size_t rows = 0;

		for (size_t i = 0; i < th->phases.segments; i++) {
			const struct segment *s = &th->phases.segment[i];

			for (size_t r = 0; s->phase == p && r < s->n; r++, rows++) {
				const struct windows_row *row = windows_row(t, th, s->first + r);

				for (unsigned c = 3; c < g.columns; c++) {
					double v = value_of(t, &series[c - 3], row);

					if (!isnan(v)) {
						sum[c] += v;
						of[c]++;
					}
				}
			}
		}
		grid_row(&g);
		grid_add(&g, 0, INK_STRONG, "%u", p + 1);
		put_percent(&cell, 100.0 * (double)rows / (double)n);
		grid_put(&g, 1, INK_PLAIN, &cell);
		put_runs(&cell, th, p);
		grid_put(&g, 2, INK_PLAIN, &cell);
		for (unsigned c = 3; c < g.columns; c++) {
			put_value(&cell, style, &series[c - 3], of[c] > 0 ? sum[c] / of[c] : NAN);
			grid_put(&g, c, INK_PLAIN, &cell);
		}
	}
	text_add(out, "\n");
	grid_write(out, &g, style, 3);
	put_left_out(out, &g, style);
	grid_free(&g);
}

/* The rows. */
static void put_rows(struct text *out, const struct windows_table *t,
		     const struct windows_thread *th, const struct style *style)
{
	struct grid g = { .columns = 2 };
	struct text cell = { 0 };
	size_t events = t->n_events < GRID_COLUMNS - 3 ? t->n_events : GRID_COLUMNS - 3;
	size_t metrics = t->n_metrics < GRID_COLUMNS - 3 - events ? t->n_metrics
								  : GRID_COLUMNS - 3 - events;

	g.columns = (unsigned)(2 + events + metrics + 1);
	for (unsigned c = 0; c + 1 < g.columns; c++)
		g.right[c] = true;
	for (unsigned d = g.columns - 1; d-- > 3;)
		g.drop[g.drops++] = d;
	grid_row(&g);
	grid_word(&g, 0, INK_FAINT, "window");
	grid_word(&g, 1, INK_FAINT, "wall");
	for (size_t e = 0; e < events; e++) {
		char name[160];

		short_name(name, sizeof(name), t->event[e].name);
		grid_word(&g, (unsigned)(2 + e), INK_FAINT, name);
	}
	for (size_t m = 0; m < metrics; m++) {
		grid_word(&g, (unsigned)(2 + events + m), INK_FAINT, t->metric[m].name);
	}
	for (size_t i = 0; i < th->n; i++) {
		const struct windows_row *row = windows_row(t, th, i);

		grid_row(&g);
		grid_add(&g, 0, INK_PLAIN, "%zu", i + 1);
		if (row->wall_ns)
			put_time(&cell, style, row->wall_ns);
		grid_put(&g, 1, INK_PLAIN, &cell);
		for (size_t e = 0; e < events; e++) {
			if (windows_is_clock(t, e))
				put_time(&cell, style, row->value[e]);
			else
				put_count(&cell, style, row->value[e]);
			grid_put(&g, (unsigned)(2 + e), INK_PLAIN, &cell);
		}
		for (size_t m = 0; m < metrics; m++) {
			put_number(&cell, style, windows_metric(t, row, m), t->metric[m].digits);
			grid_put(&g, (unsigned)(2 + events + m), INK_PLAIN, &cell);
		}
		if (row->rest || row->moved)
			text_add(&cell, row->rest ? "the rest" : "moved");
		grid_put(&g, g.columns - 1, INK_FAINT, &cell);
	}
	text_add(out, "\n");
	grid_write(out, &g, style, 3);
	put_left_out(out, &g, style);
	grid_free(&g);
}

static uint64_t total_of(const struct windows_table *t, const struct windows_thread *th)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < th->n; i++)
		sum += windows_row(t, th, i)->value[0];
	return sum;
}

/* "1,000,000 instructions:u"; "5.00 ms of task-clock" */
static void put_amount(struct text *out, const struct style *style, const struct windows_table *t,
		       size_t event, uint64_t n)
{
	if (windows_is_clock(t, event)) {
		put_time(out, style, n);
		text_add(out, " of %s", t->event[event].name);
	} else {
		put_count(out, style, n);
		text_add(out, " %s", t->event[event].name);
	}
}

static void put_thread(struct text *out, const struct windows_table *t,
		       const struct windows_thread *th, const struct windows_about *about,
		       const struct style *style)
{
	struct series series[GRID_COLUMNS * 2];
	size_t n = list_series(t, series, ARRAY_SIZE(series)), windows = th->whole;

	text_add(out, "\n %s", ink_on(style, INK_STRONG));
	escape(out, th->comm, strlen(th->comm));
	text_add(out, "%s", ink_off(style));
	if (th->tid)
		text_add(out, " %u", th->tid);
	if (th->tid != th->pid)
		text_add(out, " of %u", th->pid);
	text_add(out, "   ");
	put_count(out, style, windows);
	text_add(out, " window%s, ", windows == 1 ? "" : "s");
	put_amount(out, style, t, 0, total_of(t, th));
	text_add(out, "\n");
	for (size_t k = 0; k < n && windows > 1; k++)
		put_plot(out, t, th, &series[k], style);
	put_phases(out, t, th, series, n, style);
	if (!about->most_rows || th->n <= about->most_rows)
		put_rows(out, t, th, style);
}

static int by_total(const void *a, const void *b)
{
	const struct windows_thread *const *x = a, *const *y = b;

	return (*x)->n != (*y)->n             ? ((*x)->n > (*y)->n ? -1 : 1)
		: (*x)->number < (*y)->number ? -1
					      : 1;
}

static void put_head(struct text *out, const struct windows_table *t,
		     const struct windows_about *about, const struct style *style)
{
	size_t windows = 0;

	for (size_t k = 0; k < t->n_threads; k++)
		windows += t->thread[k]->whole;
	text_add(out, "\n ");
	put_count(out, style, windows);
	text_add(out, " window%s of ", windows == 1 ? "" : "s");
	if (!strcmp(about->mode, "poll")) {
		put_time(out, style, about->every);
	} else {
		put_amount(out, style, t, 0, about->every);
	}
	if (!strcmp(about->mode, "poll")) {
		text_add(out, ", all threads together: read by a timer\n");
		return;
	}
	text_add(out, ", %zu thread%s: %s\n", t->n_threads, t->n_threads == 1 ? "" : "s",
		 about->end->uncounted[0]       ? "not all of the command"
			 : about->engine->exact ? "exact to the instruction"
						: "counted, read at each overflow");
}

void windows_rest(struct text *out, const struct windows_table *t,
		  const struct windows_about *about, const struct style *style)
{
	const uint64_t *rest = about->end->rest;

	for (size_t e = 0; rest && e < t->n_events; e++) {
		text_add(out, "%s", e ? ", " : "");
		put_amount(out, style, t, e, rest[e]);
	}
	if (!rest)
		return;
	text_add(out, " came after the last window of each thread");
	if (about->end->unseen)
		text_add(out, ", or of %" PRIu64 " thread%s without a window", about->end->unseen,
			 about->end->unseen == 1 ? "" : "s");
	text_add(out, ": no row has them");
}

static void put_notes(struct text *out, const struct windows_table *t,
		      const struct windows_about *about, const struct style *style)
{
	const struct window_end *e = about->end;
	const char *on = ink_on(style, INK_CAREFUL), *off = ink_off(style);
	char by[SIGNAL_NAME_ROOM];
	struct text words = { 0 };

	if (e->never_began)
		text_add(out, "\n %sthe command was ended by %s before its first instruction%s\n",
			 on, signal_name(WTERMSIG(e->wait_status), by), off);
	if (e->cut_off)
		text_add(out, "\n %scounting ended early: later windows are missing%s\n", on, off);
	if (e->lost)
		text_add(
			out,
			"\n %s%" PRIu64
			" windows were lost because a buffer was full: the ones after them are longer%s\n",
			on, e->lost, off);
	if (e->throttled)
		text_add(out,
			 "\n %sthe kernel paused sampling %" PRIu64
			 " times: windows there are longer; larger ones help%s\n",
			 on, e->throttled, off);
	if (e->kernel_left_out)
		text_add(
			out,
			"\n %suser mode only where a name ends in u: this user may not count the kernel%s\n",
			on, off);
	if (e->children_left_out)
		text_add(
			out,
			"\n %sthe first thread only: groups are read in children from Linux 6.12 on%s\n",
			on, off);
	for (unsigned i = 0; partial_sentence(&words, &e->partial, i); i++) {
		text_add(out, "\n %s%s%s\n", on, words.failed ? "" : words.s, off);
		text_free(&words);
	}
	if (e->rest) {
		text_add(out, "\n ");
		windows_rest(out, t, about, style);
		text_add(out, "\n");
	}
	if (e->rests_unknown)
		text_add(
			out,
			"\n %sthe counts of some threads after their last window are not known%s\n",
			on, off);
}

void windows_text(struct text *out, const struct windows_table *t,
		  const struct windows_about *about, const struct style *style)
{
	const struct windows_thread **order = calloc(t->n_threads + 1,
						     sizeof(struct windows_thread *));
	size_t shown = about->most_threads && about->most_threads < t->n_threads
		? about->most_threads
		: t->n_threads;

	if (!order) {
		out->failed = true;
		return;
	}
	put_head(out, t, about, style);
	for (size_t k = 0; k < t->n_threads; k++)
		order[k] = t->thread[k];
	qsort(order, t->n_threads, sizeof(struct windows_thread *), by_total);
	for (size_t k = 0; k < shown; k++)
		put_thread(out, t, order[k], about, style);
	if (shown < t->n_threads)
		text_add(out, "\n and %zu threads with fewer windows: --threads 0 shows all\n",
			 t->n_threads - shown);
	put_notes(out, t, about, style);
	free(order);
}
