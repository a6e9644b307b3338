/* SPDX-License-Identifier: MIT */
/* Text output of the changes between recordings: a table per counter. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "regions/compare_view.h"
#include "output/escape.h"
#include "regions/region_cells.h"

enum {
	COL_CHANGE,
	COL_HALF,
	COL_PERCENT,
	COL_SURE,
	COL_BEFORE,
	COL_AFTER,
	COL_TOTAL,
	COL_COUNT,
	COL_LABEL,
	COL_MARK,
	COLS
};

static void put_percent_change(struct text *out, double percent)
{
	if (isinf(percent))
		text_add(out, percent > 0 ? "new" : "gone");
	else if (percent != 0)
		text_add(out,
			 fabs(percent) >= 10            ? "%+.0f %%"
				 : fabs(percent) >= 0.1 ? "%+.1f %%"
							: "%+.2g %%",
			 percent);
}

static void put_sure(struct text *out, char letter, double q)
{
	if (q < 0.0001)
		text_add(out, "%c<.0001", letter);
	else
		text_add(out, "%c=%.*f", letter, q < 0.01 ? 4 : 3, q);
}

static void one_row(struct grid *g, const struct compare *c, const struct compare_row *row,
		    size_t k, const struct style *s)
{
	const struct compare_change *self = &row->change[COMPARE_SELF * c->n_counters + k],
				    *total = &row->change[COMPARE_TOTAL * c->n_counters + k];
	const char *unit = c->counter[k].unit;
	int64_t count = (int64_t)(row->count[c->n[0]] - row->count[0]);
	bool everywhere = true, counts_vary = false;
	enum ink ink = !self->beyond ? INK_PLAIN : self->is.test.change > 0 ? INK_BAD : INK_STRONG;
	struct text t = { 0 };

	for (size_t r = 0; r < c->n_runs; r++) {
		everywhere &= row->count[r] > 0;
		counts_vary |= row->count[r] != row->count[r < c->n[0] ? 0 : c->n[0]];
	}
	grid_row(g);
	if (self->known && compare_unknown(row)) {
		grid_word(g, COL_CHANGE, INK_BAD, "unknown");
		for (int side = COMPARE_BEFORE; side < COMPARE_SIDES; side++) {
			if (row->unknown[side])
				text_add(&t, "?");
			else
				put_amount(&t, s, unit, self->mean[side]);
			grid_put(g, side == COMPARE_BEFORE ? COL_BEFORE : COL_AFTER, INK_PLAIN, &t);
		}
		count = 0;
		counts_vary = false;
	} else if (self->known) {
		put_change(&t, s, unit, self->is.test.change);
		grid_put(g, COL_CHANGE, ink, &t);
		if (c->tested && !self->names && !self->is.unseen && self->is.test.half > 0) {
			text_add(&t, "%s", s->utf8 ? "\u00b1" : "+-");
			put_amount(&t, s, unit, self->is.test.half);
		}
		grid_put(g, COL_HALF, INK_FAINT, &t);
		if (self->is.test.change != 0 && self->mean[COMPARE_AFTER] == 0 &&
		    row->label != LABELS_NONE && !everywhere && !self->names)
			text_add(&t, "gone");
		else if (!self->names || isfinite(compare_percent(self)))
			put_percent_change(&t, compare_percent(self));
		grid_put(g, COL_PERCENT, ink, &t);
		if (c->tested && !self->lost && !self->names && self->is.test.change != 0 &&
		    self->is.verdict != CHANGE_SMALL)
			put_sure(&t, row->label == LABELS_NONE ? 'p' : 'q',
				 row->label == LABELS_NONE ? self->is.test.p : self->is.q);
		grid_put(g, COL_SURE, self->beyond ? INK_STRONG : INK_FAINT, &t);
		grid_amount(g, COL_BEFORE, INK_PLAIN, s, unit, self->mean[COMPARE_BEFORE]);
		grid_amount(g, COL_AFTER, INK_PLAIN, s, unit, self->mean[COMPARE_AFTER]);
		if (row->label != LABELS_NONE && !c->counts_only) {
			put_change(&t, s, unit, total->is.test.change);
			grid_put(g, COL_TOTAL, total->beyond ? INK_STRONG : INK_PLAIN, &t);
		}
	} else {
		grid_word(g, COL_CHANGE, INK_BAD, "unavailable");
	}
	if (c->counts_only)
		; /* shown in the change column */
	else if (count && !counts_vary)
		put_change(&t, s, "", (double)count);
	else if (counts_vary)
		text_add(&t, "varies");
	grid_put(g, COL_COUNT, INK_PLAIN, &t);
	if (row->label == LABELS_NONE)
		text_add(&t, "%s",
			 row == &c->all               ? "(all)"
				 : row == &c->outside ? "(in no region)"
						      : "(detached timings, not in all)");
	else
		put_label(&t, s, &c->labels, row->label,
			  s->width >= 120          ? (size_t)s->width / 3
				  : s->width >= 70 ? (size_t)s->width / 2
						   : (size_t)s->width - 22);
	grid_put(g, COL_LABEL, INK_PLAIN, &t);
	if (self->lost && self->known && self->is.test.change != 0)
		text_add(&t, total->beyond ? "points lost, total beyond the noise" : "points lost");
	else if (self->names && self->known && self->is.test.change != 0)
		text_add(&t, "names lost");
	else if (self->beyond || total->beyond)
		text_add(&t, self->beyond ? "beyond the noise" : "total beyond the noise");
	else if (c->tested && (compare_too_few(self) || compare_too_few(total)))
		text_add(&t,
			 compare_too_few(self) ? "too few runs to tell"
					       : "total: too few runs to tell");
	else if (c->tested && (compare_by_order(self) || compare_by_order(total)))
		text_add(&t,
			 compare_by_order(self) ? "not judged: order of the runs"
						: "total not judged: order of the runs");
	grid_put(g, COL_MARK, INK_CAREFUL, &t);
}

static void table(struct text *out, struct compare *c, const struct compare_shown *how, size_t k,
		  const struct style *s)
{
	const struct grid_column columns[COLS] = {
		{ "change", true },
		{ NULL, true, 4 },
		{ "%", true },
		{ c->tested ? "sure" : NULL, true, 6 },
		{ "before", true, 2 },
		{ "after", true, 3 },
		{ c->counts_only ? NULL : "in total", true, 1 },
		{ c->counts_only ? NULL : "count", true, 5 },
		{ "label", false },
		{ NULL, false, 7 },
	};
	struct grid g = grid_begin(columns, COLS);
	const struct compare_counter *counter = &c->counter[k];
	size_t n = 0, left = 0;

	compare_sort(c, how->key, k);
	one_row(&g, c, &c->all, k, s);
	for (size_t i = 0; i < c->n_rows; i++) {
		if (!compare_row_wanted(c, &c->row[i], how, k))
			continue;
		if (how->top && n == how->top) {
			left++;
			continue;
		}
		n++;
		one_row(&g, c, &c->row[i], k, s);
	}
	if (compare_single_wanted(c, &c->outside, how, k))
		one_row(&g, c, &c->outside, k, s);
	if (compare_single_wanted(c, &c->async, how, k))
		one_row(&g, c, &c->async, k, s);
	text_add(out, "\n %s", ink_on(s, INK_STRONG));
	escape(out, counter->name, strlen(counter->name));
	text_add(out, "%s   %s%s%s\n\n", ink_off(s), ink_on(s, INK_FAINT),
		 tare_quality_name(counter->quality), ink_off(s));
	grid_end(out, &g, s, 1);
	if (left)
		text_add(out, " %s(%zu more; --top 0 shows all)%s\n", ink_on(s, INK_FAINT), left,
			 ink_off(s));
}

static void side(struct text *out, const struct compare *c, const char *name, size_t first,
		 size_t n, const struct style *s)
{
	text_add(out, " %s%-6s%s", ink_on(s, INK_FAINT), name, ink_off(s));
	for (size_t r = first; r < first + n; r++) {
		if (r - first == 3 && n > 4) {
			text_add(out, "  and %zu more", n - 3);
			break;
		}
		text_add(out, "  ");
		escape(out, c->run[r].recording[0].path, strlen(c->run[r].recording[0].path));
	}
	text_add(out, "\n");
}

static void put_losses(struct text *out, const struct compare *c, size_t r, const struct style *s)
{
	const struct regions *run = &c->run[r];
	const char *path = run->recording[0].path;
	struct text t = { 0 };

	if (c->loss[r].names)
		put_paragraph(
			out, s, INK_CAREFUL,
			"%s: regions with lost names may belong to any label that it does not show, or shows in part: changes of those are not judged.",
			path);
	put_points_lost(&t, run->lost, run->lost_unknown);
	if (!t.len)
		return;
	if (c->loss[r].threads)
		put_paragraph(
			out, s, INK_CAREFUL,
			"%s: %s: the cost of the labels in those threads is not known, and their changes are not judged.",
			path, t.s);
	else if (run->lost > run->lost_handlers || run->lost_unknown)
		put_paragraph(
			out, s, INK_CAREFUL,
			"%s: %s in threads that are missing from it: their labels are not known, and the change of (all) is not judged.",
			path, t.s);
	text_free(&t);
}

/* Summary of the rows that pass --match and --by. */
struct told {
	struct {
		size_t beyond, judged, few, order, lost, names;
	} self; /* changes of labels; few, lost, names: not judged for that reason */
	/*
	 * including total and all: where runs agree, and where threads race; the number of runs
	 * that is enough
	 */
	size_t few[2], enough[2];
	bool order;       /* some are not judged because of the order of the runs */
	bool drift;       /* some may be caused by a drift */
	bool half, by[4]; /* some have a \u00b1; some have a p by this enum change_by */
	/* a counter that shows that other instructions were executed, or may show it; NULL: none */
	const char *exact;
};

static void tell(struct told *t, const struct compare *c, size_t k, const struct compare_change *d)
{
	bool small = d->is.verdict == CHANGE_SMALL;

	if (!d->known || d->lost || d->names)
		return;
	if (c->tested && d->is.verdict != CHANGE_NONE) {
		t->half |= !d->is.unseen && d->is.test.half > 0;
		t->by[d->is.by] = true;
	}
	t->drift |= c->drift.blocks && d->is.drift && c->tested && d->is.verdict != CHANGE_NONE;
	t->order |= compare_by_order(d);
	if (compare_too_few(d)) {
		t->few[small] += 1;
		t->enough[small] = d->is.enough > t->enough[small] ? d->is.enough
								   : t->enough[small];
	}
	if ((d->beyond || (compare_too_few(d) && !small)) && c->one_thread &&
	    c->counter[k].quality == TARE_EXACT)
		t->exact = c->counter[k].name;
}

static struct told told(const struct compare *c, const struct compare_shown *how)
{
	const struct compare_row *const single[] = { &c->all, &c->outside, &c->async };
	struct told t = { 0 };

	for (size_t k = 0; k < c->n_counters; k++) {
		if (!compare_counter_wanted(how, c->counter[k].name))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(single); i++)
			if (compare_single_wanted(c, single[i], how, k))
				tell(&t, c, k, &single[i]->change[k]);
		for (size_t i = 0; i < c->n_rows; i++) {
			const struct compare_change *self = &c->row[i].change[k],
						    *total = &c->row[i].change[c->n_counters + k];

			if (!compare_row_matches(c, &c->row[i], how))
				continue;
			tell(&t, c, k, self);
			tell(&t, c, k, total);
			t.self.beyond += self->beyond;
			t.self.few += compare_too_few(self);
			t.self.order += compare_by_order(self);
			t.self.lost += self->lost && self->known && self->is.test.change != 0;
			t.self.names += !self->lost && self->names && self->known &&
				self->is.test.change != 0;
			t.self.judged += !self->lost && !self->names && !compare_too_few(self) &&
				!compare_by_order(self);
		}
	}
	return t;
}

static bool single_run(const struct compare *c)
{
	return c->n[0] == 1 || c->n[1] == 1;
}

/* The test that p comes from. */
static void put_test(struct text *out, const struct compare *c, const struct told *t,
		     const struct style *s)
{
	const char *begin = ". p is by ";

	text_add(out, "before and after are %s, means of the runs",
		 c->counts_only ? "how often the label ran" : "self");
	if (t->half)
		text_add(out, "; %s is half of the 95 %% confidence interval of a change",
			 s->utf8 ? "\u00b1" : "+-");
	if (t->by[CHANGE_BY_T]) {
		text_add(
			out, "%s%s", begin,
			single_run(c)
				? "Student's t test, the noise of the single run taken to be that of the others"
				: c->n[0] == c->n[1]
				? "Welch's t test"
				: "Welch's t test, or Student's if its p is larger");
		begin = ", or ";
	}
	if (t->by[CHANGE_BY_RANK]) {
		text_add(
			out,
			"%srank (a single run is the minimum or maximum of %zu), if its p is larger",
			begin, c->n_runs);
		begin = ", or ";
	}
	if (t->by[CHANGE_BY_BARNARD])
		text_add(out, "%sBarnard's test, where the runs of each side agree", begin);
	if (t->by[CHANGE_BY_DRIFT])
		text_add(out, "%sthe same with the variance of a drift", begin);
	if (t->by[CHANGE_BY_T] || t->by[CHANGE_BY_RANK] || t->by[CHANGE_BY_BARNARD] ||
	    t->by[CHANGE_BY_DRIFT])
		text_add(out, "; q is p by Benjamini and Hochberg");
}

/*
 * The number of changes that exceed the noise, and of those not judged: "0 changes" alone would
 * claim that there are none.
 */
static void put_verdict(struct text *out, const struct compare *c, const struct told *t)
{
	const char *of = c->counts_only ? "" : " of self";
	const struct {
		size_t n;
		const char *why;
	} not_judged[] = { { t->self.lost, "points were lost" },
			   { t->self.names, "names were lost" },
			   { t->self.few, "the runs are too few" },
			   { t->self.order, "a drift of the machine may explain them" } };
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(not_judged); i++) {
		size_t n = not_judged[i].n;

		if (n && any)
			text_add(out, ", and %zu, because %s", n, not_judged[i].why);
		else if (n)
			text_add(out, "%zu change%s%s %s not judged, because %s", n,
				 n == 1 ? "" : "s", of, n == 1 ? "is" : "are", not_judged[i].why);
		any |= n > 0;
	}
	if (any && t->self.judged)
		text_add(out, "; of the others ");
	if (!any || t->self.judged)
		text_add(out, "%zu change%s%s exceed%s the noise", t->self.beyond,
			 t->self.beyond == 1 ? "" : "s", of, t->self.beyond == 1 ? "s" : "");
	if (t->self.beyond)
		text_add(out, "; at most %.0f %% of these are expected by chance",
			 100 * SIGNIFICANCE_Q);
}

/* Why there are too few runs, and how many are enough. */
static void put_too_few(struct text *out, const struct compare *c, const struct told *t,
			const struct style *s)
{
	if (t->few[0] && c->tested && single_run(c))
		put_paragraph(
			out, s, INK_CAREFUL,
			"Too few runs to tell: the noise of a single run is not known. %zu + %zu runs are enough.",
			t->enough[0], t->enough[0]);
	else if (t->few[0] && c->tested)
		put_paragraph(
			out, s, INK_CAREFUL,
			"Too few runs to tell: where the runs of each side agree, noise that affects only some runs separates %zu + %zu of them by chance, with a probability of up to %.3g for each label. %zu + %zu runs are enough.",
			c->n[0], c->n[1], significance_unseen(c->n[0], c->n[1]), t->enough[0],
			t->enough[0]);
	if (t->few[1] && c->tested)
		put_paragraph(
			out, s, INK_CAREFUL,
			"Too few runs to tell%s exact counts of several threads that differ by at most 4,000, or 0.01 %%, which a race of the threads can cause. %zu + %zu runs are enough.",
			t->few[0] ? ", too:" : ":", t->enough[1], t->enough[1]);
	if (t->exact)
		put_paragraph(
			out, s, INK_CAREFUL,
			"%s is exact, and each recording has points of one thread: a difference means that other instructions were executed. Causes are the change, input, environment (its size, paths), addresses, random numbers, time, or other threads, if there are any without regions (which one takes a lock first, or which piece of the work).",
			t->exact);
}

/* If the runs of a side were recorded together, the machine may have changed between the sides. */
static void put_order(struct text *out, const struct compare *c, const struct told *t,
		      const struct style *s)
{
	bool known = true;

	if (!t->drift)
		return;
	for (size_t r = 0; r < c->n_runs; r++)
		known &= c->run[r].recording[0].start_ns != 0;
	put_paragraph(
		out, s, INK_CAREFUL,
		"%s a drift of the machine between them (load, temperature, clock rate) looks like a change. Intervals and p allow for it%s. Interleave them: tare regions --turns 5 -o NAME -- BEFORE ::: AFTER.",
		known ? "The runs before and after were not interleaved:"
		      : "The times of the runs are not known; they are assumed to be in the given order:",
		t->order ? ", and a change that it can explain is not judged" : "");
}

void compare_text(struct text *out, struct compare *c, const struct compare_shown *how,
		  const struct style *s)
{
	struct told t = told(c, how);
	struct machines machines = { 0 };
	struct text words = { 0 };
	bool handlers = false;

	side(out, c, "before", 0, c->n[0], s);
	side(out, c, "after", c->n[0], c->n[1], s);
	for (size_t k = 0; k < c->n_counters; k++)
		if (compare_counter_wanted(how, c->counter[k].name))
			table(out, c, how, k, s);
	text_add(out, "\n");
	if (!c->tested) {
		put_paragraph(
			out, s, INK_CAREFUL,
			"With one recording on each side, the noise is not known: any of these changes may be noise. Use several: tare diff BEFORE1 BEFORE2 BEFORE3 -- AFTER1 AFTER2 AFTER3. tare regions --turns 5 -o NAME -- BEFORE ::: AFTER records them.");
	} else {
		put_test(&words, c, &t, s);
		text_add(&words, ": ");
		put_verdict(&words, c, &t);
		put_paragraph(out, s, INK_FAINT, "%s.", words.s ? words.s : "");
	}
	text_free(&words);
	put_too_few(out, c, &t, s);
	put_order(out, c, &t, s);
	compare_machines(&machines, c);
	put_machines(out, s, &machines);
	for (size_t r = 0; r < c->n_runs; r++)
		put_losses(out, c, r, s);
	for (size_t r = 0; r < c->n_runs; r++)
		handlers |= c->run[r].lost_handlers > 0;
	if (handlers)
		put_paragraph(
			out, s, INK_CAREFUL,
			"Points of signal handlers were lost, see below. The labels of handlers are not judged; nor is a change in self of another label that is at most their possible cost, because that cost is included there.");
	for (size_t r = 0; r < c->n_runs; r++)
		if (c->run[r].recording[0].damage)
			put_paragraph(out, s, INK_CAREFUL, "%s: %s.", c->run[r].recording[0].path,
				      c->run[r].recording[0].damage);
	for (size_t r = 0; r < c->n_runs; r++)
		if (c->run[r].recording[0].live)
			put_paragraph(out, s, INK_CAREFUL, "%s: %s.", c->run[r].recording[0].path,
				      c->run[r].recording[0].live);
}
