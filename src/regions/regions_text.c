/* SPDX-License-Identifier: MIT */
/* Text output of region costs: a table per counter, other kinds of points, then notes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "output/escape.h"
#include "regions/region_cells.h"
#include "regions/regions_merged_view.h"

enum {
	COL_SELF,
	COL_OFF,
	COL_SHARE,
	COL_TOTAL,
	COL_COUNT,
	COL_MIN,
	COL_MEDIAN,
	COL_P99,
	COL_MAX,
	COL_LABEL,
	COL_NOTE,
	COLS,
	EVENTS_SHOWN = 10
};

_Static_assert((int)COLS <= (int)GRID_COLUMNS, "they fit");

static size_t label_width(const struct style *s)
{
	return s->width >= 120   ? (size_t)s->width / 3
		: s->width >= 70 ? (size_t)s->width / 2
				 : (size_t)s->width - 22;
}

static bool shown(const struct regions *r, const struct regions_row *row,
		  const struct regions_shown *how)
{
	return row->count && (!how->match || strstr(r->labels.entry[row->label].name, how->match));
}

static void put_share(struct text *out, double part, double whole)
{
	if (whole > 0)
		text_add(out, "%.1f %%", 100 * part / whole);
}

/* Short notes about a row's numbers. */
static void row_notes(struct text *out, const struct style *s, const struct regions_row *row,
		      const struct regions_sum *sum)
{
	const struct {
		uint64_t n;
		const char *word;
	} notes[] = {
		{ row->rare->recursive, "recursive" },     { row->rare->cut, "cut" },
		{ row->rare->async, "detached" },          { row->rare->holes, "with points lost" },
		{ sum->rare->unknown, "without a count" }, { sum->rare->no_self, "without a self" },
	};

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		if (!notes[i].n)
			continue;
		if (out->len)
			text_add(out, ", ");
		put_count(out, s, notes[i].n);
		text_add(out, " %s", notes[i].word);
	}
}

/* The error bound of a value. It is not a confidence interval, so +- is not used. */
static const char *at_most(const struct style *s)
{
	return s->utf8 ? "\u2264" : "<=";
}

/* The last digit that put_amount() shows. An error bound is rounded up to it. */
static double last_digit(const char *unit, double off)
{
	if (strcmp(unit, "ns") || off < 1e3)
		return 1;
	return off < 1e6 ? 1e2 : off < 1e9 ? 1e4 : off < 1e11 ? 1e6 : 1e7;
}

/* The error bound of the subtracted overhead. */
static void put_own_off(struct grid *g, const struct regions *r, const struct style *s,
			const char *unit, double off)
{
	double digit = last_digit(unit, off);
	struct text t = { 0 };

	if (!r->options.subtract_own || off <= 0)
		return;
	text_add(&t, "%s ", at_most(s));
	put_amount(&t, s, unit, ceil(off / digit) * digit);
	grid_put(g, COL_OFF, INK_FAINT, &t);
}

static void thread_words(struct text *out, const struct regions *r, size_t thread)
{
	const struct regions_thread *t = &r->thread[thread];

	text_add(out, " @%" PRIu64, t->tid);
	if (t->name[0]) {
		text_add(out, " ");
		escape(out, t->name, strlen(t->name));
	}
	if (r->n_recordings > 1)
		text_add(out, " of file %zu", t->recording + 1);
}

static void one_row(struct grid *g, const struct regions *r, const struct regions_row *row,
		    size_t c, const struct style *s)
{
	const struct regions_counter *k = &r->counter[c];
	const struct regions_sum *sum = &row->sum[c];
	bool none = sum->rare->unknown == row->count;
	struct text t = { 0 };

	grid_row(g);
	if (!none)
		put_amount(&t, s, k->unit, regions_self(r, row, c));
	else
		text_add(&t, "unavailable");
	grid_put(g, COL_SELF, none ? INK_BAD : INK_STRONG, &t);
	if (!none) {
		put_own_off(g, r, s, k->unit, sum->own.self_off);
		if (sum->rare->async == 0 || row->count > row->rare->async)
			put_share(&t, regions_nested_self(r, row, c), regions_whole(r, c));
		grid_put(g, COL_SHARE, INK_FAINT, &t);
		grid_amount(g, COL_TOTAL, INK_PLAIN, s, k->unit, regions_total(r, row, c));
	}
	grid_count(g, COL_COUNT, INK_PLAIN, s, row->count);
	if (row->count > 1 && regions_singles(sum)) { /* a single region equals the total */
		grid_amount(g, COL_MIN, INK_PLAIN, s, k->unit,
			    (double)regions_single(sum, 0, NULL));
		grid_amount(g, COL_MEDIAN, INK_PLAIN, s, k->unit,
			    (double)regions_median(sum, NULL));
		grid_amount(g, COL_P99, INK_PLAIN, s, k->unit,
			    (double)regions_single(sum, 0.99, NULL));
		grid_amount(g, COL_MAX, INK_PLAIN, s, k->unit,
			    (double)regions_single(sum, 1, NULL));
	}
	put_label(&t, s, &r->labels, row->label, label_width(s));
	if (row->thread != REGIONS_ALL_THREADS)
		thread_words(&t, r, row->thread);
	grid_put(g, COL_LABEL, INK_PLAIN, &t);
	row_notes(&t, s, row, sum);
	grid_put(g, COL_NOTE, INK_CAREFUL, &t);
}

static void table(struct text *out, struct regions *r, const struct regions_shown *how, size_t c,
		  const struct style *s)
{
	const struct grid_column columns[COLS] = {
		{ "self", true },      { r->options.subtract_own ? "off by" : "", true },
		{ "%", true },         { "total", true, 6 },
		{ "count", true, 7 },  { "min", true, 1 },
		{ "median", true, 5 }, { "p99", true, 2 },
		{ "max", true, 3 },    { "label", false },
		{ NULL, false, 4 }
	};
	const struct regions_counter *k = &r->counter[c];
	struct grid g = grid_begin(columns, COLS);
	size_t n = 0, left = 0;
	struct text t = { 0 };
	double rest = 0, nested = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (!shown(r, &r->row[i], how))
			continue;
		if (how->top && n == how->top) {
			left++;
			rest += regions_self(r, &r->row[i], c);
			nested += regions_nested_self(r, &r->row[i], c);
			continue;
		}
		n++;
		one_row(&g, r, &r->row[i], c, s);
	}
	if (left) {
		grid_row(&g);
		grid_amount(&g, COL_SELF, INK_FAINT, s, k->unit, rest);
		put_share(&t, nested, regions_whole(r, c));
		grid_put(&g, COL_SHARE, INK_FAINT, &t);
		text_add(&t, "(%zu more; --top 0 shows all)", left);
		grid_put(&g, COL_LABEL, INK_FAINT, &t);
	}
	if (!how->match && k->whole) {
		grid_row(&g);
		grid_amount(&g, COL_SELF, INK_FAINT, s, k->unit, regions_outside(r, c));
		put_own_off(&g, r, s, k->unit, k->own.outside_off);
		put_share(&t, regions_outside(r, c), regions_whole(r, c));
		grid_put(&g, COL_SHARE, INK_FAINT, &t);
		grid_word(&g, COL_LABEL, INK_FAINT, "(in no region)");
		if (r->gaps)
			grid_word(&g, COL_NOTE, INK_CAREFUL, "points lost");
		grid_row(&g);
		grid_amount(&g, COL_SELF, INK_FAINT, s, k->unit, regions_whole(r, c));
		put_own_off(&g, r, s, k->unit, k->own.whole_off);
		grid_word(&g, COL_LABEL, INK_FAINT,
			  r->n_threads > 1 ? "(all, summed over the threads)" : "(all)");
	}
	if (!how->match && k->async) {
		grid_row(&g);
		grid_amount(&g, COL_SELF, INK_FAINT, s, k->unit, (double)k->async);
		grid_word(&g, COL_LABEL, INK_FAINT, "(detached timings, not in all)");
	}
	if (n || (!how->match && (k->whole || k->async))) {
		text_add(out, "\n %s", ink_on(s, INK_STRONG));
		escape(out, k->name, strlen(k->name));
		text_add(out, "%s   %s%s%s\n\n", ink_off(s), ink_on(s, INK_FAINT),
			 tare_quality_name(k->quality), ink_off(s));
		grid_write(out, &g, s, 1);
	}
	grid_free(&g);
}

/* For a recording without counters: how often each region ran. */
static void counts(struct text *out, const struct regions *r, const struct regions_shown *how,
		   const struct style *s)
{
	struct grid g = grid_begin(count_columns, ARRAY_SIZE(count_columns));
	struct text t = { 0 };
	size_t n = 0, left = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct regions_row *row = &r->row[i];

		if (!shown(r, row, how))
			continue;
		if (how->top && n == how->top) {
			left++;
			continue;
		}
		n++;
		grid_row(&g);
		grid_count(&g, 0, INK_STRONG, s, row->count);
		put_label(&t, s, &r->labels, row->label, label_width(s));
		if (row->thread != REGIONS_ALL_THREADS)
			thread_words(&t, r, row->thread);
		grid_put(&g, 1, INK_PLAIN, &t);
		row_notes(&t, s, row, &row->sum[0]);
		grid_put(&g, 2, INK_CAREFUL, &t);
	}
	if (left) {
		grid_row(&g);
		text_add(&t, "(%zu more; --top 0 shows all)", left);
		grid_put(&g, 1, INK_FAINT, &t);
	}
	if (n) {
		text_add(out, "\n");
		grid_write(out, &g, s, 1);
	}
	grid_free(&g);
}

static int by_times(const void *a, const void *b)
{
	const struct regions_row *x = *(const struct regions_row *const *)a,
				 *y = *(const struct regions_row *const *)b;
	uint64_t m = x->rare->integers.n + x->rare->instants,
		 n = y->rare->integers.n + y->rare->instants;

	return m != n ? (m < n ? 1 : -1) : (x > y) - (x < y);
}

/* Points that are not regions: values and instants, the most frequent first. */
static void events(struct text *out, const struct regions *r, const struct regions_shown *how,
		   const struct style *s)
{
	static const struct grid_column columns[] = {
		{ "times", true }, { "sum", true },  { "min", true },
		{ "max", true },   { "last", true }, { "value or instant", false }
	};
	const struct regions_row **order = calloc(r->n + 1, sizeof(*order));
	struct grid g = grid_begin(columns, ARRAY_SIZE(columns));
	size_t rows = 0, n = 0, left = 0,
	       most = how->top && how->top > EVENTS_SHOWN ? EVENTS_SHOWN : how->top;

	for (size_t i = 0; order && i < r->n; i++)
		if (r->row[i].rare->instants + r->row[i].rare->integers.n)
			order[rows++] = &r->row[i];
	if (order)
		qsort(order, rows, sizeof(*order), by_times);
	else
		out->failed = true;
	for (size_t i = 0; order && i < rows; i++) {
		const struct regions_row *row = order[i];
		const uint64_t values[] = { row->rare->integers.sum, row->rare->integers.min,
					    row->rare->integers.max, row->rare->integers.last };
		struct text t = { 0 };

		if (how->match && !strstr(r->labels.entry[row->label].name, how->match))
			continue;
		if (most && n >= most) {
			left++;
			continue;
		}
		n++;
		grid_row(&g);
		grid_count(&g, 0, INK_PLAIN, s,
			   row->rare->integers.n ? row->rare->integers.n : row->rare->instants);
		for (unsigned v = 0;
		     row->rare->integers.n && v < (row->rare->integers.n > 1 ? 4 : 1); v++) {
			if (v == 0 && row->rare->integers.beyond)
				text_add(&t, ">");
			put_count(&t, s, values[v]);
			grid_put(&g, v + 1, INK_PLAIN, &t);
		}
		put_label(&t, s, &r->labels, row->label, label_width(s));
		grid_put(&g, 5, INK_PLAIN, &t);
		if (!row->rare->integers.n || !row->rare->instants)
			continue;
		grid_row(&g); /* the label has both: a second row for its instants */
		grid_count(&g, 0, INK_PLAIN, s, row->rare->instants);
		put_label(&t, s, &r->labels, row->label, label_width(s));
		text_add(&t, " (instants)");
		grid_put(&g, 5, INK_PLAIN, &t);
	}
	if (left) {
		grid_row(&g);
		grid_add(&g, 5, INK_FAINT, "(%zu more)", left);
	}
	free(order);
	if (n) {
		text_add(out, "\n");
		grid_write(out, &g, s, 1);
	}
	grid_free(&g);
}

/* The most expensive single regions and timings of the selected label. */
static void singles(struct text *out, const struct regions *r, const struct style *s)
{
	static const struct grid_column columns[] = {
		{ "total", true },     { "self", true, 4 }, { "begins at", true, 5 },
		{ "thread", true, 3 }, { "region", false }, { "in", false, 2 },
		{ "byte", false, 1 },  { NULL, false }
	};
	const struct regions_counter *k = &r->counter[r->by];
	struct grid g = grid_begin(columns, ARRAY_SIZE(columns));
	bool begins = true;

	for (size_t i = 0; i < r->n_singles; i++) {
		const struct regions_single *one = &r->single[i];
		struct text t = { 0 };

		grid_row(&g);
		grid_amount(&g, 0, INK_STRONG, s, k->unit,
			    (double)one->cost - (r->options.subtract_own ? one->own.total : 0));
		if (one->self_known)
			put_amount(&t, s, k->unit,
				   (double)one->self -
					   (r->options.subtract_own ? one->own.self : 0));
		grid_put(&g, 1, INK_PLAIN, &t);
		begins &= one->begin_known;
		if (one->begin_known)
			put_amount(&t, s, k->unit, (double)one->begin);
		grid_put(&g, 2, INK_PLAIN, &t);
		thread_words(&t, r, one->thread);
		memmove(t.s, t.s + 1, t.len--);
		if (one->end_thread != one->thread) {
			text_add(&t, " to");
			thread_words(&t, r, one->end_thread);
		}
		grid_put(&g, 3, INK_PLAIN, &t);
		put_label(&t, s, &r->labels, one->label, label_width(s));
		grid_put(&g, 4, INK_PLAIN, &t);
		if (one->around != LABELS_NONE)
			put_label(&t, s, &r->labels, one->around, label_width(s) / 2);
		grid_put(&g, 5, INK_FAINT, &t);
		grid_add(&g, 6, INK_FAINT, "%" PRIu64, one->offset);
		grid_word(&g, 7, INK_CAREFUL, one->cut ? "cut" : one->async ? "detached" : "");
	}
	text_add(out, "\n %s", ink_on(s, INK_STRONG));
	escape(out, r->options.single, strlen(r->options.single));
	text_add(out, "%s, the most expensive by ", ink_off(s));
	escape(out, k->name, strlen(k->name));
	text_add(out, "\n\n");
	if (r->n_singles)
		grid_write(out, &g, s, 1);
	else
		put_paragraph(out, s, INK_CAREFUL, "None has a known cost.");
	if (!begins)
		put_paragraph(
			out, s, INK_FAINT,
			"begins at is relative to the first begin of a region in its thread, or of a timing if it has no region; empty if there is none before it.");
	grid_free(&g);
}

/* Rounded up to a tenth. */
static void put_off(struct text *out, const struct style *s, double off)
{
	text_add(out, " (off by %s ", at_most(s));
	put_real(out, s, ceil(off * 10) / 10, 1);
	text_add(out, ")");
}

/*
 * The overhead of a region for each way of recording in the file, and the number of regions without
 * a measured overhead.
 */
static uint64_t own_words(struct text *out, const struct regions_counter *k, const struct style *s)
{
	uint64_t unmeasured = 0;
	size_t record_paths = 0;

	for (uint8_t w = 0; w < TIMELINE_PATHS; w++)
		record_paths += k->record_path[w].regions && k->record_path[w].own.known;
	for (uint8_t w = 0; w < TIMELINE_PATHS; w++) {
		const struct timeline_own *own = &k->record_path[w].own;

		if (!k->record_path[w].regions)
			continue;
		if (!own->known) {
			unmeasured += k->record_path[w].regions;
			continue;
		}
		text_add(out, "%s", out->len ? ", " : "");
		put_real(out, s, own->inside + own->outside, 1);
		if (own->inside_off + own->outside_off > 0)
			put_off(out, s, own->inside_off + own->outside_off);
		if (k->unit[0])
			text_add(out, " %s", k->unit);
		if (record_paths > 1 || w != 0)
			text_add(out, " by %s%s", timeline_record_path(w),
				 w < TIMELINE_PATHS / 2 ? "" : " with a label above the 2046th");
	}
	return unmeasured;
}

/* Is any shown value negative? */
static bool below_zero(const struct regions *r, size_t c)
{
	bool below = llround(regions_outside(r, c)) < 0 || llround(regions_whole(r, c)) < 0;

	for (size_t i = 0; i < r->n; i++)
		below |= r->row[i].count &&
			(llround(regions_self(r, &r->row[i], c)) < 0 ||
			 llround(regions_total(r, &r->row[i], c)) < 0 ||
			 r->row[i].sum[c].rare->below.n);
	return below;
}

/* Points with unmeasured overhead, which is not subtracted. */
static uint64_t other_points(const struct regions *r)
{
	uint64_t n = r->unmatched;

	for (size_t i = 0; i < r->n; i++)
		n += r->row[i].rare->instants + r->row[i].rare->integers.n +
			2 * r->row[i].rare->async;
	return n;
}

static void own_cost(struct text *out, const struct regions *r, const struct style *s)
{
	uint64_t others = r->options.subtract_own ? other_points(r) : 0;
	bool known = false;

	for (size_t c = 0; c < r->n_counters; c++) {
		const struct regions_counter *k = &r->counter[c];
		struct text words = { 0 }, share = { 0 };
		uint64_t unmeasured = own_words(&words, k, s);
		bool more = k->own.whole > (double)k->whole;

		known |= words.len > 0;
		if (words.len) {
			put_percent(&share, k->whole ? 100 * k->own.whole / (double)k->whole : 0);
			put_paragraph(
				out, s, INK_FAINT,
				"%s: recording a region costs %s, as measured when the recording began; its share of the values above %s%s%s, %s.",
				k->name, words.s, more ? "would be " : "is ", share.s,
				more ? ", so it is less here" : "",
				r->options.subtract_own ? "subtracted"
							: "not subtracted (--subtract-own)");
		}
		if (unmeasured && words.len)
			put_paragraph(
				out, s, INK_CAREFUL,
				"%s: the overhead of %" PRIu64
				" of the regions was not measured; nothing is subtracted for those.",
				k->name, unmeasured);
		if (words.len && r->options.subtract_own && below_zero(r, c))
			put_paragraph(
				out, s, INK_CAREFUL,
				"%s: negative values mean that recording a region cost less here than when that was measured.",
				k->name);
		if (!words.len && r->options.subtract_own)
			put_paragraph(
				out, s, INK_CAREFUL,
				"%s: the overhead of regions is not in the recording; nothing is subtracted.",
				k->name);
		if (k->outside < 0)
			put_paragraph(
				out, s, INK_CAREFUL,
				"%s: it stepped back outside all regions, so (in no region) is negative.",
				k->name);
		text_free(&words);
		text_free(&share);
	}
	if (known && others)
		put_paragraph(
			out, s, INK_FAINT,
			"The overhead of %" PRIu64
			" instants, values, starts and finishes was not measured; it is not subtracted.",
			others);
}

/* List some threads by number and name. Those that still run are listed with their recording. */
static void unfinished(struct text *out, const struct regions *r, const struct style *s,
		       bool unknown)
{
	enum { SHOWN = 4 };
	struct text threads = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < r->n_threads; i++)
		if (!r->thread[i].complete && !r->thread[i].goes_on &&
		    r->thread[i].end_unknown == unknown && n++ < SHOWN) {
			text_add(&threads, "%s", n > 1 ? "," : "");
			thread_words(&threads, r, i);
		}
	if (n > SHOWN)
		text_add(&threads, " and %zu more", n - SHOWN);
	if (n)
		put_paragraph(
			out, s, INK_CAREFUL,
			unknown ? "%zu of %zu threads have no end in the recording; they were killed or are still running:%s."
				: "%zu of %zu threads did not end in the recording:%s.",
			n, r->n_threads, threads.s ? threads.s : "");
	text_free(&threads);
}

static bool is_damaged(const struct regions *r)
{
	for (size_t i = 0; i < r->n_recordings; i++)
		if (r->recording[i].damage)
			return true;
	return false;
}

/* The missing begins and ends: a line per label. */
static void unbalanced_places(struct text *out, const struct regions *r, const struct style *s)
{
	enum { SHOWN = 8 };
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct regions_row *row = &r->row[i];
		struct text t = { 0 };

		if (!row->rare->unbalanced || n++ >= SHOWN)
			continue;
		put_label(&t, s, &r->labels, row->label, 60);
		put_source(&t, row->rare->unbalanced->file, row->rare->unbalanced->line);
		text_add(&t, ", ");
		put_unbalanced(&t, row->rare->unbalanced);
		text_add(&t, ", first in thread");
		thread_words(&t, r, row->rare->unbalanced->thread);
		put_paragraph(out, s, INK_CAREFUL, "%s: %s.", row->rare->cut ? "cut" : "detached",
			      t.s ? t.s : "");
		text_free(&t);
	}
	if (n > SHOWN)
		put_paragraph(out, s, INK_CAREFUL, "cut or detached: %zu labels more.", n - SHOWN);
}

static void losses(struct text *out, const struct regions *r, const struct style *s)
{
	struct text t = { 0 };

	put_points_lost(&t, r->lost, r->lost_unknown);
	if (t.len)
		put_paragraph(
			out, s, INK_CAREFUL, "%s%s.%s", t.s,
			r->lost && r->lost == r->lost_handlers && !r->lost_unknown
				? ", of signal handlers"
				: "",
			r->gaps ? " Regions that were open there are cut. The cost up to the next point is in (lost), because its region is not known. After that, the cost of a region that was open across the gap is included in the region around it, or in (in no region)."
				: "");
	text_free(&t);
}

/* One note for all counters with the same number. */
static void across(struct text *out, const struct regions *r, const struct style *s)
{
	struct text names = { 0 };
	uint64_t n = 0;

	for (size_t c = 0; c < r->n_counters; c++) {
		const struct regions_counter *k = &r->counter[c];

		if (!k->across)
			continue;
		text_add(&names, "%s%s", n ? ", " : "", k->name);
		n = k->across;
	}
	if (n)
		put_paragraph(
			out, s, INK_CAREFUL,
			"%s: %" PRIu64
			" detached timing%s finished on another thread than %s started on %s without a count: only clocks can be compared between threads.",
			names.s, n, n == 1 ? "" : "s", n == 1 ? "it" : "they",
			n == 1 ? "is" : "are");
	text_free(&names);
}

static void notes(struct text *out, const struct regions *r, const struct regions_shown *how,
		  const struct style *s)
{
	uint64_t recursive = 0, most = 0, cut = 0, backwards = 0, async = 0;
	bool singles = r->options.single; /* then no table of labels */
	struct machines machines = { 0 };

	for (size_t i = 0; i < r->n; i++) {
		recursive += r->row[i].rare->recursive;
		cut += r->row[i].rare->cut;
		most = r->row[i].count > most ? r->row[i].count : most;
	}
	for (size_t c = 0; c < r->n_counters; c++)
		backwards += r->counter[c].backwards;
	for (size_t c = 0; c < r->n_counters; c++)
		async += r->counter[c].async;
	text_add(out, "\n");
	if (r->n_counters == 0 && r->counters_unknown && is_damaged(r))
		put_paragraph(
			out, s, INK_CAREFUL,
			"The recorded counters are not known: the part of the recording that lists them is missing.");
	else if (r->n_counters == 0 && r->n_threads == 0)
		put_paragraph(
			out, s, INK_CAREFUL,
			"No thread recorded anything, so the requested counters are not known.");
	else if (r->n_counters == 0)
		put_paragraph(
			out, s, INK_FAINT,
			"Recorded without a counter (-e none): the cost of regions is not known, only how often they ran.");
	if (how->merged)
		put_paragraph(
			out, s, INK_FAINT,
			"time: every region counts, also one in another of its name. hits: results that the query had in its cache.");
	if (recursive && !singles && !how->merged)
		put_paragraph(
			out, s, INK_FAINT,
			"recursive: in another region of its label; total counts the outer one only, self and count each.");
	if (async && !singles && !how->match)
		put_paragraph(
			out, s, INK_FAINT,
			"(detached timings, not in all) are included in self above: they are not nested in the regions of a thread.");
	if (most > DISTRIBUTION_FEW && r->n_counters && !singles && !how->merged)
		put_paragraph(
			out, s, INK_FAINT,
			"median and p99 are exact for up to %d regions of a label, within 0.8 %% beyond.",
			DISTRIBUTION_FEW);
	own_cost(out, r, s);
	if (cut)
		put_paragraph(
			out, s, INK_CAREFUL,
			"cut: begin or end is not in the recording; the known part is in self and total, not in min to max.");
	unbalanced_places(out, r, s);
	if (backwards)
		put_paragraph(
			out, s, INK_CAREFUL,
			backwards == 1
				? "%" PRIu64 " region in which a counter decreased has no count."
				: "%" PRIu64 " regions in which a counter decreased have no count.",
			backwards);
	across(out, r, s);
	losses(out, r, s);
	if (r->unmatched)
		put_paragraph(
			out, s, INK_CAREFUL,
			r->unmatched == 1
				? "%" PRIu64
				  " detached timing has only one end in the recording, or was finished again: that end is not counted."
				: "%" PRIu64
				  " detached timings have only one end in the recording, or were finished again: those ends are not counted.",
			r->unmatched);
	for (size_t i = 0; i < r->n_recordings; i++)
		machines_add(&machines, r->recording[i].path, &r->recording[i].machine);
	put_machines(out, s, &machines);
	for (size_t i = 0; i < r->n_recordings; i++)
		if (r->recording[i].damage)
			put_paragraph(out, s, INK_CAREFUL, "%s: %s.", r->recording[i].path,
				      r->recording[i].damage);
	for (size_t i = 0; i < r->n_recordings; i++)
		if (r->recording[i].remark)
			put_paragraph(out, s, INK_FAINT, "%s: %s.", r->recording[i].path,
				      r->recording[i].remark);
	if (r->left_out)
		put_paragraph(
			out, s, INK_CAREFUL,
			"%" PRIu64
			" detached timing%s left out: the other end is in a thread that is not selected. Without --thread, %s shown.",
			r->left_out, r->left_out == 1 ? " is" : "s are",
			r->left_out == 1 ? "it is" : "they are");
	for (size_t i = 0; i < r->n_recordings; i++)
		if (r->recording[i].live)
			put_paragraph(out, s, INK_CAREFUL, "%s: %s.", r->recording[i].path,
				      r->recording[i].live);
	unfinished(out, r, s, false);
	unfinished(out, r, s, true);
	for (size_t c = 0; c < r->n_counters; c++)
		if (r->counter[c].note)
			put_paragraph(out, s, INK_FAINT, "%s: %s.", r->counter[c].name,
				      r->counter[c].note);
}

/* The first words of the text, separated by single spaces. */
static void put_command(struct text *out, const char *command, size_t most)
{
	struct text words = { 0 };

	for (; *command; command++) {
		if (words.len >= most && ((unsigned char)*command & 0xc0) != 0x80)
			break;
		if (*command != ' ' || command[1] != ' ')
			text_put(&words, command, 1);
	}
	if (words.s)
		escape(out, words.s, words.len);
	text_add(out, "%s", *command ? "..." : "");
	text_free(&words);
}

void regions_text(struct text *out, struct regions *r, const struct regions_shown *how,
		  const struct style *s)
{
	for (size_t i = 0; i < r->n_recordings; i++) {
		text_add(out, " ");
		escape(out, r->recording[i].path, strlen(r->recording[i].path));
		text_add(out, "   %s%s%s", ink_on(s, INK_FAINT), r->recording[i].format,
			 r->recording[i].machine.kind ? ", " : "");
		put_machine(out, &r->recording[i].machine);
		text_add(out, "%s%s", r->recording[i].command[0] ? ", " : "", ink_off(s));
		put_command(out, r->recording[i].command, s->width > 120 ? 80 : 30);
		text_add(out, "\n");
	}
	text_add(out, " ");
	put_count(out, s, r->regions);
	text_add(out, " region%s, %zu thread%s\n", r->regions == 1 ? "" : "s", r->n_threads,
		 r->n_threads == 1 ? "" : "s");
	if (r->options.single) {
		singles(out, r, s);
	} else if (how->merged) {
		regions_merged_text(out, r, how, s);
	} else {
		for (size_t c = 0; c < r->n_counters; c++) {
			if (r->options.by && c != r->by)
				continue;
			regions_sort(r, how->key, c);
			table(out, r, how, c, s);
		}
		if (r->n_counters == 0)
			counts(out, r, how, s);
		events(out, r, how, s);
	}
	notes(out, r, how, s);
}
