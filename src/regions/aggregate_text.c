/* SPDX-License-Identifier: MIT */
/*
 * Text output of the noise between runs: differences in what they did, the noise of intervals and
 * of labels.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "statistics/median.h"
#include "regions/aggregate_view.h"
#include "output/escape.h"
#include "output/interval_view.h"
#include "regions/region_cells.h"

enum {
	COL_SELF,
	COL_NOISE,
	COL_PERCENT,
	COL_TOTAL,
	COL_TOTAL_NOISE,
	COL_COUNT,
	COL_WITHIN,
	COL_LABEL,
	COL_MARK,
	COLS
};
enum { BAR = 24 };

static int by_real(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

bool aggregate_range_of(const struct aggregate *a, const struct aggregate_row *row, size_t counter,
			bool total, struct aggregate_range *out)
{
	double *value = calloc(a->n_runs, sizeof(*value));
	bool known = value;

	for (size_t r = 0; known && r < a->n_runs; r++) {
		const struct aggregate_amount *m = &aggregate_tally(a, row, r)->amount[counter];

		known = m->unknown == 0;
		value[r] = total ? (double)m->total : (double)m->self;
	}
	if (known) {
		qsort(value, a->n_runs, sizeof(*value), by_real);
		*out = (struct aggregate_range){
			.min = value[0],
			.median = floor(median_of_real(value, a->n_runs)),
			.max = value[a->n_runs - 1],
			.low = value[spread_rank(a->n_runs)],
			.high = value[a->n_runs - 1 - spread_rank(a->n_runs)],
			.interval = spread_interval(a->n_runs)
		};
	}
	free(value);
	return known;
}

struct ordered {
	const struct aggregate_row *row;
	double noise, size;
	const char *name;
};

static int by_noise(const void *pa, const void *pb)
{
	const struct ordered *a = pa, *b = pb;

	if (a->noise != b->noise)
		return a->noise < b->noise ? 1 : -1;
	if (a->size != b->size)
		return a->size < b->size ? 1 : -1;
	return strcmp(a->name, b->name);
}

const struct aggregate_row **aggregate_order(const struct aggregate *a, size_t counter)
{
	struct ordered *order = calloc(a->n + 1, sizeof(*order));
	const struct aggregate_row **out = calloc(a->n + 1, sizeof(*out));

	for (size_t i = 0; order && i < a->n; i++) {
		struct aggregate_range range = { 0 };
		bool known = a->n_counters &&
			aggregate_range_of(a, &a->row[i], counter, false, &range);

		order[i] = (struct ordered){ &a->row[i], known ? range.max - range.min : -1,
					     range.median, a->labels.entry[a->row[i].label].name };
	}
	if (order && out) {
		qsort(order, a->n, sizeof(*order), by_noise);
		for (size_t i = 0; i < a->n; i++)
			out[i] = order[i].row;
	} else {
		free(out);
		out = NULL;
	}
	free(order);
	return out;
}

static const char *plus_minus(const struct style *s)
{
	return s->utf8 ? "\u00b1" : "+-";
}

/* "0.00 %" only for exactly 0. */
static void put_part(struct text *out, uint64_t n, uint64_t of)
{
	double percent = 100 * (double)n / (double)of;

	if (n && percent < 0.01)
		text_add(out, "<0.01 %%");
	else if (n < of && percent > 99.99)
		text_add(out, ">99.99 %%");
	else
		text_add(out, "%.2f %%", percent);
}

static void name_of(struct text *out, const struct aggregate *a, const struct style *s,
		    uint32_t label)
{
	size_t most = s->width > 100 ? 48 : 28;

	put_label(out, s, &a->labels, label, most);
}

/* "in x, between a and b": the place of an interval. */
static void put_place(struct text *out, const struct aggregate *a, const struct style *s,
		      const struct aggregate_place *p)
{
	bool begins = p->from_kind == TIMELINE_BEGIN, ends = p->to_kind == TIMELINE_END;

	if (begins && ends && p->from == p->to) {
		name_of(out, a, s, p->to);
		text_add(out, ", all of it");
		return;
	}
	if (p->around != LABELS_NONE) {
		text_add(out, "in ");
		name_of(out, a, s, p->around);
		text_add(out, ", ");
	}
	if (begins) {
		text_add(out, "before ");
		name_of(out, a, s, p->to);
	} else if (ends) {
		text_add(out, "after ");
		name_of(out, a, s, p->from);
	} else {
		text_add(out, "between ");
		name_of(out, a, s, p->from);
		text_add(out, " and ");
		name_of(out, a, s, p->to);
	}
}

void aggregate_place_words(struct text *out, const struct aggregate *a,
			   const struct aggregate_place *p)
{
	const struct style plain = { .width = 200 };

	put_place(out, a, &plain, p);
}

static void list(struct text *out, const struct aggregate *a, const struct style *s,
		 const struct aggregate_counter *k, const struct aggregate_list *l,
		 const char *head)
{
	struct grid g = { .columns = 4, .right = { true, true, true } };

	text_add(out, "\n  %s%s%s\n", ink_on(s, INK_FAINT), head, ink_off(s));
	for (size_t i = 0; i < l->n; i++) {
		const struct aggregate_extreme *e = &l->entry[i];
		struct text t = { 0 };

		grid_row(&g);
		grid_amount(&g, 0, INK_STRONG, s, k->unit, (double)e->value);
		if (e->n > 1) {
			grid_count(&g, 1, INK_PLAIN, s, e->n);
			put_part(&t, e->n, k->intervals);
			grid_put(&g, 2, INK_FAINT, &t);
		} else {
			put_place(&t, a, s, &e->place);
			grid_put(&g, 3, INK_PLAIN, &t);
		}
	}
	grid_end(out, &g, s, 3);
}

static void histogram(struct text *out, const struct style *s, const struct aggregate_counter *k)
{
	struct grid g = { .columns = 4, .right = { true, true, true }, .drop = { 3 }, .drops = 1 };
	uint64_t most = 1;

	text_add(out, "\n  %sintervals by range over the runs (largest minus smallest)%s\n",
		 ink_on(s, INK_FAINT), ink_off(s));
	for (unsigned b = 0; b < AGGREGATE_BUCKETS; b++)
		most = k->bucket[b] > most ? k->bucket[b] : most;
	for (unsigned b = 0; b < AGGREGATE_BUCKETS; b++) {
		struct text t = { 0 };
		size_t bar;

		if (!k->bucket[b])
			continue;
		grid_row(&g);
		if (b > 1) {
			put_amount(&t, s, k->unit, ldexp(1, (int)b - 1));
			text_add(&t, " %s ", s->utf8 ? "\u2026" : "..");
		}
		put_amount(&t, s, k->unit, b ? ldexp(1, (int)b) - 1 : 0);
		grid_put(&g, 0, INK_PLAIN, &t);
		grid_count(&g, 1, INK_PLAIN, s, k->bucket[b]);
		put_part(&t, k->bucket[b], k->intervals);
		grid_put(&g, 2, INK_FAINT, &t);
		bar = (size_t)ceil(BAR * (double)k->bucket[b] / (double)most);
		while (bar--)
			text_add(&t, "%s", s->utf8 ? "\u2588" : "#");
		grid_put(&g, 3, INK_FAINT, &t);
	}
	grid_end(out, &g, s, 3);
}

/*
 * Not for clocks, which have noise everywhere, and not for a single thread, which has no other
 * thread to race with.
 */
static bool about_first_times(const struct aggregate *a, const struct aggregate_counter *k)
{
	return k->firsts && !k->unit[0] && a->n_threads > 1 &&
		100 * (double)k->firsts_noise >= (double)k->noise;
}

static void first_times(struct text *out, const struct aggregate *a, const struct style *s,
			const struct aggregate_counter *k)
{
	uint64_t noisy = k->intervals - k->zero;
	bool one_cpu = true;

	for (size_t i = 0; i < a->n_runs; i++)
		one_cpu &= a->run[i].one_cpu;
	if (!about_first_times(a, k))
		return;
	put_paragraph(
		out, s, INK_PLAIN,
		" %.0f %% of the noise is in %" PRIu64 " of the %" PRIu64
		" noisy intervals: those that end at the first begin or end of a "
		"label in their thread. Work that is done once may be done by another thread in another run: naming a region, binding a function, a thread's first malloc(3). %s",
		100 * (double)k->firsts_noise / (double)k->noise, k->firsts, noisy,
		one_cpu ? "On one CPU, as here, it is mostly the same thread."
			: "On one CPU it is mostly the same thread: tare regions --deterministic=+cpu.");
}

/* For exact counts, each difference between runs starts at some instruction. */
static void where_they_part(struct text *out, const struct aggregate *a, const struct style *s,
			    const struct aggregate_counter *k)
{
	if (k->quality == TARE_EXACT && !strcmp(k->name, "instructions:u") &&
	    !(about_first_times(a, k) && 2 * k->firsts_noise >= k->noise))
		put_paragraph(
			out, s, INK_FAINT,
			" tare diverge -- COMMAND shows the first instruction at which two runs diverge, and what it read. One cause is a directory with other contents in "
			"each run: do not write recordings to the directory where the command runs.");
}

/*
 * Both rounded to the second digit of `half`, because `per` is not known better; "7 \u00b10" if
 * half is 0.
 */
static void put_within(struct text *out, const struct style *s, double value, double half)
{
	double unit = half > 1e-6 * fabs(value) ? pow(10, floor(log10(half)) - 1) : 0;
	unsigned digits = unit == 0 || unit >= 1 ? 0 : (unsigned)lround(-log10(unit));

	if (unit == 0 && fabs(value - round(value)) > 1e-6 * fabs(value))
		digits = 2;
	put_real(out, s, unit ? round(value / unit) * unit : value, digits);
	text_add(out, " %s", plus_minus(s));
	put_real(out, s, unit ? ceil(half / unit) * unit : 0, unit ? digits : 0);
}

static void causes(struct text *out, const struct aggregate *a, const struct style *s,
		   const struct aggregate_counter *k)
{
	first_times(out, a, s, k);
	where_they_part(out, a, s, k);
	for (size_t i = 0; i < k->n_causes; i++) {
		const struct aggregate_cause *c = &k->cause[i];
		const char *by = a->counter[c->counter].name;
		struct text t = { 0 };

		if (k->noise == 0)
			continue;
		if (c->n == 0) {
			put_paragraph(
				out, s, INK_FAINT,
				" the noise does not correlate with %s: it is the same in all runs wherever %s differs.",
				by, k->name);
			continue;
		}
		text_add(&t,
			 " %.0f %% of the noise is in %" PRIu64
			 " interval%s in which %s differs too",
			 100 * (double)c->noise / (double)k->noise, c->n, c->n == 1 ? "" : "s", by);
		if (!c->judged) {
			text_add(&t, "; too few to tell whether they correlate");
		} else {
			text_add(
				&t,
				c->known
					? "; there, one more of it corresponds to "
					: "; they do not correlate significantly: one more of it corresponds to ");
			put_within(&t, s, c->per, c->half);
			text_add(&t, "%s%s (95 %%)", k->unit[0] ? " " : "", k->unit);
		}
		/* with two runs, any difference is a multiple of 1 */
		if (c->exact && a->n_runs > 2)
			text_add(&t,
				 "; in %" PRIu64 " of them the difference is exactly a multiple",
				 c->exact);
		put_paragraph(out, s, c->known ? INK_PLAIN : INK_FAINT, "%s.", t.s ? t.s : "");
		text_free(&t);
	}
}

static void micro(struct text *out, const struct aggregate *a, const struct style *s,
		  const struct aggregate_counter *k)
{
	if (!k->intervals)
		return;
	text_add(out, "\n  ");
	put_count(out, s, k->intervals);
	text_add(out, " intervals between neighbouring points: equal in all runs in ");
	put_part(out, k->zero, k->intervals);
	text_add(out, " of them");
	if (k->not_counted) {
		text_add(out, "; ");
		put_count(out, s, k->not_counted);
		text_add(out, " more without a value in every run");
	}
	text_add(out, "\n");
	if (k->noise == 0)
		return;
	causes(out, a, s, k);
	histogram(out, s, k);
	list(out, a, s, k, &k->noisy, "largest noise: largest minus smallest of the runs");
	list(out, a, s, k, &k->steady, "smallest noise");
	list(out, a, s, k, &k->most, "longest");
	list(out, a, s, k, &k->least, "shortest");
}

static size_t label_width(const struct style *s)
{
	return s->width >= 100   ? (size_t)s->width / 3
		: s->width >= 60 ? (size_t)s->width / 2
				 : (size_t)s->width - 24;
}

static void macro_row(struct grid *g, const struct aggregate *a, const struct aggregate_row *row,
		      size_t c, const struct style *s)
{
	const struct aggregate_counter *k = &a->counter[c];
	struct aggregate_range self, total;
	struct text t = { 0 };
	uint64_t async = 0;
	bool differs = false;

	for (size_t r = 1; r < a->n_runs; r++)
		differs |= aggregate_tally(a, row, r)->count != aggregate_tally(a, row, 0)->count;
	grid_row(g);
	if (aggregate_range_of(a, row, c, false, &self) &&
	    aggregate_range_of(a, row, c, true, &total)) {
		grid_amount(g, COL_SELF, INK_STRONG, s, k->unit, self.median);
		grid_amount(g, COL_NOISE, INK_PLAIN, s, k->unit, self.max - self.min);
		put_interval(&t, s, self.interval, self.low, self.median, self.high);
		grid_put(g, COL_PERCENT, INK_FAINT, &t);
		grid_amount(g, COL_TOTAL, INK_PLAIN, s, k->unit, total.median);
		grid_amount(g, COL_TOTAL_NOISE, INK_PLAIN, s, k->unit, total.max - total.min);
		if (row->compared[c])
			put_amount(&t, s, k->unit, (double)row->noise[c]);
		else
			text_add(&t, "-");
		grid_put(g, COL_WITHIN, INK_PLAIN, &t);
	} else {
		grid_word(g, COL_SELF, INK_BAD, "unavailable");
	}
	grid_count(g, COL_COUNT, INK_PLAIN, s, aggregate_tally(a, row, 0)->count);
	put_label(&t, s, &a->labels, row->label, label_width(s));
	grid_put(g, COL_LABEL, INK_PLAIN, &t);
	for (size_t r = 0; row->async && r < a->n_runs; r++)
		async = row->async[r] > async ? row->async[r] : async;
	if (differs)
		text_add(&t, "count differs");
	if (async) {
		text_add(&t, "%s", differs ? ", " : "");
		put_count(&t, s, async);
		text_add(&t, " detached");
	}
	grid_put(g, COL_MARK, INK_CAREFUL, &t);
}

static void macro(struct text *out, const struct aggregate *a, const struct aggregate_shown *how,
		  size_t c, const struct style *s)
{
	static const struct grid_column columns[COLS] = {
		{ "self", true },         { "range", true },    { "of median", true, 6 },
		{ "total", true, 3 },     { "range", true, 2 }, { "count", true, 5 },
		{ "intervals", true, 1 }, { "label", false },   { NULL, false, 4 }
	};
	struct grid g;
	const struct aggregate_row **order = aggregate_order(a, c);
	size_t n = 0, left = 0;
	uint64_t noise;

	if (!order) {
		out->failed = true;
		return;
	}
	g = grid_begin(columns, COLS);
	for (size_t i = 0; i < a->n; i++) {
		if (how->match && !strstr(a->labels.entry[order[i]->label].name, how->match))
			continue;
		if (how->top && n == how->top) {
			left++;
			continue;
		}
		n++;
		macro_row(&g, a, order[i], c, s);
	}
	if (!how->match && aggregate_outside(a, c, &noise)) {
		grid_row(&g);
		grid_amount(&g, COL_WITHIN, INK_PLAIN, s, a->counter[c].unit, (double)noise);
		grid_word(&g, COL_LABEL, INK_FAINT, "(in no region)");
	}
	text_add(out, "\n");
	grid_end(out, &g, s, 1);
	if (left)
		text_add(out, " %s(%zu more; --top 0 shows all)%s\n", ink_on(s, INK_FAINT), left,
			 ink_off(s));
	free(order);
}

/* For recordings without a counter: how often each label ran. */
static void counts(struct text *out, const struct aggregate *a, const struct aggregate_shown *how,
		   const struct style *s)
{
	struct grid g = grid_begin(count_columns, ARRAY_SIZE(count_columns));
	size_t n = 0, left = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct aggregate_row *row = &a->row[i];
		uint64_t least = aggregate_tally(a, row, 0)->count,
			 most = aggregate_tally(a, row, 0)->count;
		struct text t = { 0 };

		if (how->match && !strstr(a->labels.entry[row->label].name, how->match))
			continue;
		if (how->top && n == how->top) {
			left++;
			continue;
		}
		n++;
		for (size_t r = 1; r < a->n_runs; r++) {
			least = aggregate_tally(a, row, r)->count < least
				? aggregate_tally(a, row, r)->count
				: least;
			most = aggregate_tally(a, row, r)->count > most
				? aggregate_tally(a, row, r)->count
				: most;
		}
		grid_row(&g);
		put_count(&t, s, least);
		if (most != least) {
			text_add(&t, " to ");
			put_count(&t, s, most);
		}
		grid_put(&g, 0, INK_STRONG, &t);
		put_label(&t, s, &a->labels, row->label, label_width(s));
		grid_put(&g, 1, INK_PLAIN, &t);
		grid_word(&g, 2, INK_CAREFUL, most != least ? "count differs" : "");
	}
	text_add(out, "\n");
	grid_end(out, &g, s, 1);
	if (left)
		text_add(out, " %s(%zu more; --top 0 shows all)%s\n", ink_on(s, INK_FAINT), left,
			 ink_off(s));
}

static const char *const kind_words[] = { "begin of ", "end of ",    "instant ",   "value ",
					  "start of ", "finish of ", "lost points" };

static void put_point(struct text *out, const struct aggregate *a, const struct style *s,
		      enum timeline_kind kind, uint32_t label)
{
	text_add(out, "%s", kind_words[kind]);
	if (label != LABELS_NONE)
		name_of(out, a, s, label);
}

static void one_difference(struct text *out, const struct aggregate *a,
			   const struct aggregate_difference *d, const struct style *s)
{
	struct grid g = { .columns = 5, .right = { false, true }, .drop = { 4, 1 }, .drops = 2 };

	text_add(out, "\n  thread %" PRIu64, a->thread[d->thread].tid);
	if (d->around != LABELS_NONE) {
		text_add(out, ", in ");
		name_of(out, a, s, d->around);
	}
	if (d->before != LABELS_NONE) {
		text_add(out, ", after ");
		put_point(out, a, s, d->before_kind, d->before);
	}
	text_add(out, ":\n");
	for (size_t r = 0; r < a->n_runs; r++) {
		struct text t = { 0 };

		grid_row(&g);
		grid_add(&g, 0, INK_FAINT, "run %zu", r + 1);
		text_add(&t, "point ");
		put_count(&t, s, d->run[r].index);
		grid_put(&g, 1, INK_FAINT, &t);
		if (d->run[r].ends)
			text_add(&t, "ends");
		else
			put_point(&t, a, s, d->run[r].kind, d->run[r].label);
		grid_put(&g, 2, INK_PLAIN, &t);
		if (d->run[r].passed && !d->lost) {
			put_count(&t, s, d->run[r].passed);
			text_add(&t, " alone");
		}
		grid_put(&g, 3, INK_CAREFUL, &t);
		if (d->run[r].offset)
			text_add(&t, "byte %" PRIu64, d->run[r].offset);
		grid_put(&g, 4, INK_FAINT, &t);
	}
	grid_end(out, &g, s, 4);
	if (d->lost)
		put_paragraph(
			out, s, INK_CAREFUL,
			" No common points were found within %d points: these are not compared. The comparison continues after them.",
			ALIGN_WINDOW);
}

static bool alone_threads(const struct aggregate *a)
{
	for (size_t i = 0; i < a->n_threads; i++)
		if (a->thread[i].runs < a->n_runs)
			return true;
	return false;
}

static void sameness(struct text *out, const struct aggregate *a, const struct style *s)
{
	enum { FEW_SHOWN = 4 };
	uint64_t alone = 0, shared = 0, points = 0;
	size_t few = 0;

	for (size_t r = 0; r < a->n_runs; r++)
		points += a->run[r].points;
	if (points == 0) {
		put_paragraph(out, s, INK_CAREFUL,
			      "The runs have no points: there is nothing to compare.");
		return;
	}
	for (size_t r = 0; r < a->n_runs; r++)
		alone += a->run[r].alone;
	for (size_t i = 0; i < a->n_threads; i++)
		shared += a->thread[i].steps;
	if (shared == 0)
		put_paragraph(
			out, s, INK_CAREFUL,
			"No point is in all runs: there is nothing to compare. Are they recordings of the same work?");
	for (size_t i = 0; i < a->n_threads; i++)
		if (a->thread[i].runs < a->n_runs && few++ < FEW_SHOWN)
			put_paragraph(out, s, INK_CAREFUL,
				      "thread %" PRIu64
				      "%s%s is in %zu of %zu runs only: it is not compared.",
				      a->thread[i].tid, a->thread[i].name[0] ? " " : "",
				      a->thread[i].name, a->thread[i].runs, a->n_runs);
	if (few > FEW_SHOWN)
		put_paragraph(out, s, INK_CAREFUL,
			      "and %zu threads more are not in all runs, and not compared.",
			      few - FEW_SHOWN);
	if (a->n_threads > 1)
		put_paragraph(out, s, INK_FAINT, "Threads go together %s.",
			      thread_pairing_words(a->pairing));
	if (a->differences == 0 && shared == 0)
		return;
	if (a->differences == 0) {
		put_paragraph(out, s, INK_PLAIN, "%s runs have the same points in the same order.",
			      alone_threads(a) ? "Where they are compared, all" : "All");
		return;
	}
	put_paragraph(out, s, INK_CAREFUL,
		      "The runs differ in %" PRIu64 " place%s, by %" PRIu64
		      " points that are not in all of them. The points in between are compared.%s",
		      a->differences, a->differences == 1 ? "" : "s", alone,
		      a->n_differences < a->differences ? " The first of them:" : "");
	for (size_t i = 0; i < a->n_differences; i++)
		one_difference(out, a, &a->difference[i], s);
}

static void run_losses(struct text *out, const struct aggregate *a, size_t run,
		       const struct style *s)
{
	const struct aggregate_run *r = &a->run[run];
	struct text t = { 0 };

	put_points_lost(&t, r->lost, r->lost_unknown);
	if (t.len)
		put_paragraph(out, s, INK_CAREFUL, "Run %zu: %s%s.", run + 1, t.s,
			      r->gaps ? ": its cost is in (lost), and in no other label of that run"
				      : "");
	text_free(&t);
}

static bool any_async_spans(const struct aggregate *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->row[i].async)
			return true;
	return false;
}

void aggregate_text(struct text *out, const struct aggregate *a, const struct aggregate_shown *how,
		    const struct style *s)
{
	struct machines machines = { 0 };

	for (size_t r = 0; r < a->n_runs; r++) {
		text_add(out, " %srun %zu%s  ", ink_on(s, INK_FAINT), r + 1, ink_off(s));
		escape(out, a->run[r].path, strlen(a->run[r].path));
		text_add(out, "   %s", ink_on(s, INK_FAINT));
		put_count(out, s, a->run[r].regions);
		text_add(out, " regions, %zu thread%s%s\n", a->run[r].threads,
			 a->run[r].threads == 1 ? "" : "s", ink_off(s));
	}
	text_add(out, "\n");
	sameness(out, a, s);
	for (size_t c = 0; c < a->n_counters; c++) {
		if (!aggregate_wanted(how, a->counter[c].name))
			continue;
		text_add(out, "\n %s", ink_on(s, INK_STRONG));
		escape(out, a->counter[c].name, strlen(a->counter[c].name));
		text_add(out, "%s   %s%s%s\n", ink_off(s), ink_on(s, INK_FAINT),
			 tare_quality_name(a->counter[c].quality), ink_off(s));
		macro(out, a, how, c, s);
		micro(out, a, s, &a->counter[c]);
	}
	if (a->n_counters == 0 && a->n)
		counts(out, a, how, s);
	text_add(out, "\n");
	if (how->explained)
		explain_text(out, how->explained, s);
	if (a->n_counters == 0)
		put_paragraph(
			out, s, INK_FAINT,
			"Recorded without a counter (-e none): what regions cost is not known, only how often they ran, and in which order.");
	else
		put_paragraph(
			out, s, INK_FAINT,
			"self and total are medians of the runs; range: largest minus smallest. %s%s. intervals: the sum of the ranges of the intervals directly in the label.",
			a->n_runs < SPREAD_CONFIDENCE_LEAST
				? "Six runs or more give a confidence interval of the median"
				: plus_minus(s),
			a->n_runs < SPREAD_CONFIDENCE_LEAST
				? ""
				: ": half the width of a 95 % confidence interval of the median of self");
	for (size_t c = 0; c < a->n_counters; c++)
		if (a->counter[c].not_counted && aggregate_wanted(how, a->counter[c].name)) {
			put_paragraph(
				out, s, INK_FAINT,
				"without a value: in a run, the counter could not be read at one end of the interval, decreased in it, or that end is not in the recording.");
			break;
		}
	if (any_async_spans(a))
		put_paragraph(
			out, s, INK_FAINT,
			"detached: timings of the label, which are not nested in regions and have no intervals. If they finish on another thread than they started on, only clocks are counted.");
	for (size_t r = 0; r < a->n_runs; r++)
		machines_add(&machines, a->run[r].path, &a->run[r].machine);
	put_machines(out, s, &machines);
	for (size_t r = 0; r < a->n_runs; r++)
		run_losses(out, a, r, s);
	for (size_t r = 0; r < a->n_runs; r++)
		if (a->run[r].damage)
			put_paragraph(out, s, INK_CAREFUL, "%s: %s.", a->run[r].path,
				      a->run[r].damage);
	for (size_t r = 0; r < a->n_runs; r++)
		if (a->run[r].live)
			put_paragraph(out, s, INK_CAREFUL, "%s: %s.", a->run[r].path,
				      a->run[r].live);
}
