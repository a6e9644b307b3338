/* SPDX-License-Identifier: MIT */
/* What changed between recordings, for people: a table per counter. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "view/compare_view.h"
#include "view/escape.h"
#include "view/region_cells.h"

enum { COL_CHANGE, COL_HALF, COL_PERCENT, COL_SURE, COL_BEFORE, COL_AFTER, COL_TOTAL, COL_COUNT, COL_LABEL, COL_MARK, COLS };

static void put_percent_change(struct text *out, double percent)
{
	if (isinf(percent))
		text_add(out, percent > 0 ? "new" : "gone");
	else if (percent != 0)
		text_add(out, fabs(percent) >= 10 ? "%+.0f %%" : fabs(percent) >= 0.1 ? "%+.1f %%" : "%+.2g %%", percent);
}

static void put_sure(struct text *out, char letter, double q)
{
	if (q < 0.0001)
		text_add(out, "%c<.0001", letter);
	else
		text_add(out, "%c=%.*f", letter, q < 0.01 ? 4 : 2, q);
}

static void one_row(struct grid *g, const struct compare *c, const struct compare_row *row, size_t k, const struct style *s)
{
	const struct compare_change *self = &row->change[COMPARE_SELF * c->n_counters + k], *total = &row->change[COMPARE_TOTAL * c->n_counters + k];
	const char *unit = c->run[0].counter[k].unit;
	int64_t count = (int64_t)(row->count[c->n[0]] - row->count[0]);
	bool everywhere = true, counts_vary = false;
	enum ink ink = !self->beyond ? INK_PLAIN : self->is.test.change > 0 ? INK_BAD : INK_STRONG;
	struct text t = { 0 };

	for (size_t r = 0; r < c->n_runs; r++) {
		everywhere &= row->count[r] > 0;
		counts_vary |= row->count[r] != row->count[r < c->n[0] ? 0 : c->n[0]];
	}
	grid_row(g);
	if (self->known) {
		put_change(&t, s, unit, self->is.test.change);
		grid_put(g, COL_CHANGE, ink, &t);
		if (c->tested && !self->is.unseen && self->is.test.half > 0) {
			text_add(&t, "%s", s->utf8 ? "\u00b1" : "+-");
			put_amount(&t, s, unit, self->is.test.half);
		}
		grid_put(g, COL_HALF, INK_FAINT, &t);
		if (self->is.test.change != 0 && self->mean[COMPARE_AFTER] == 0 && row->label != LABELS_NONE && !everywhere)
			text_add(&t, "gone");
		else
			put_percent_change(&t, compare_percent(self));
		grid_put(g, COL_PERCENT, ink, &t);
		if (c->tested && !self->lost && self->is.test.change != 0 && self->is.verdict != CHANGE_SMALL)
			put_sure(&t, row->label == LABELS_NONE ? 'p' : 'q', row->label == LABELS_NONE ? self->is.test.p : self->is.q);
		grid_put(g, COL_SURE, self->beyond ? INK_STRONG : INK_FAINT, &t);
		put_amount(&t, s, unit, self->mean[COMPARE_BEFORE]);
		grid_put(g, COL_BEFORE, INK_PLAIN, &t);
		put_amount(&t, s, unit, self->mean[COMPARE_AFTER]);
		grid_put(g, COL_AFTER, INK_PLAIN, &t);
		if (row->label != LABELS_NONE) {
			put_change(&t, s, unit, total->is.test.change);
			grid_put(g, COL_TOTAL, total->beyond ? INK_STRONG : INK_PLAIN, &t);
		}
	} else {
		grid_word(g, COL_CHANGE, INK_BAD, "unavailable");
	}
	if (count && !counts_vary)
		put_change(&t, s, "", (double)count);
	else if (counts_vary)
		text_add(&t, "varies");
	grid_put(g, COL_COUNT, INK_PLAIN, &t);
	if (row->label == LABELS_NONE)
		text_add(&t, "(all)");
	else
		put_label(&t, s, &c->labels.entry[row->label], s->width >= 120 ? (size_t)s->width / 3 : s->width >= 70 ? (size_t)s->width / 2 : (size_t)s->width - 22);
	grid_put(g, COL_LABEL, INK_PLAIN, &t);
	if (self->lost && c->tested && self->known && self->is.test.change != 0)
		text_add(&t, total->beyond ? "points lost, total beyond the noise" : "points lost");
	else if (self->beyond || total->beyond)
		text_add(&t, self->beyond ? "beyond the noise" : "total beyond the noise");
	else if (c->tested && (compare_too_few(self) || compare_too_few(total)))
		text_add(&t, compare_too_few(self) ? "too few runs to tell" : "total: too few runs to tell");
	grid_put(g, COL_MARK, INK_CAREFUL, &t);
}

static void table(struct text *out, struct compare *c, const struct compare_shown *how, size_t k, const struct style *s)
{
	static const char *const heads[] = { "change", "", "%", "sure", "before", "after", "in total", "count", "label", "" };
	static const unsigned drop[] = { COL_TOTAL, COL_BEFORE, COL_AFTER, COL_HALF, COL_COUNT, COL_SURE, COL_MARK };
	struct grid g = { .columns = COLS, .drops = sizeof(drop) / sizeof(drop[0]) };
	const struct regions_counter *counter = &c->run[0].counter[k];
	size_t n = 0, left = 0;

	memcpy(g.drop, drop, sizeof(drop));
	for (unsigned i = 0; i < COL_LABEL; i++)
		g.right[i] = true;
	compare_sort(c, how->key, k);
	grid_row(&g);
	for (unsigned i = 0; i < COLS; i++)
		if (heads[i][0] && (i != COL_SURE || c->tested))
			grid_word(&g, i, INK_FAINT, heads[i]);
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
	text_add(out, "\n %s", ink_on(s, INK_STRONG));
	escape(out, counter->name, strlen(counter->name));
	text_add(out, "%s   %s%s%s\n\n", ink_off(s), ink_on(s, INK_FAINT), tare_quality_name(counter->quality), ink_off(s));
	grid_write(out, &g, s, 1);
	if (left)
		text_add(out, " %s(%zu more; --top 0 shows all)%s\n", ink_on(s, INK_FAINT), left, ink_off(s));
	grid_free(&g);
}

static void side(struct text *out, const struct compare *c, const char *name, size_t first, size_t n, const struct style *s)
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

/* How many changes exceed the noise, and how many nobody judged: "0 changes" would say that there are none. */
static void put_verdict(struct text *out, const struct compare *c)
{
	size_t beyond = 0, judged = 0, few = 0, not_judged = compare_not_judged(c);

	for (size_t i = 0; i < c->n_rows * c->n_counters; i++) {
		const struct compare_change *d = &c->row[i / c->n_counters].change[i % c->n_counters];

		beyond += d->beyond;
		few += compare_too_few(d);
		judged += !d->lost && !compare_too_few(d);
	}
	if (not_judged)
		text_add(out, "%zu change%s of self %s not judged, because points were lost", not_judged, not_judged == 1 ? "" : "s",
			 not_judged == 1 ? "is" : "are");
	if (few && not_judged)
		text_add(out, ", and %zu, because the runs are too few", few);
	else if (few)
		text_add(out, "%zu change%s of self %s not judged, because the runs are too few", few, few == 1 ? "" : "s", few == 1 ? "is" : "are");
	if ((not_judged || few) && judged)
		text_add(out, "; of the others ");
	if (judged || !(not_judged || few))
		text_add(out, "%zu change%s of self exceed%s the noise, of which at most %.0f %% are expected to do so by chance", beyond,
			 beyond == 1 ? "" : "s", beyond == 1 ? "s" : "", 100 * CHANGES_Q);
}

static void put_losses(struct text *out, const struct compare *c, size_t r, const struct style *s)
{
	const struct regions *run = &c->run[r];
	const char *path = run->recording[0].path;
	struct text t = { 0 };

	put_points_lost(&t, run->lost, run->lost_unknown);
	if (!t.len)
		return;
	if (c->loss[r].threads)
		put_note(out, s, INK_CAREFUL, "%s: %s: what the labels of those threads cost is not known, and no change of them is judged.", path, t.s);
	else if (run->lost > run->lost_handlers || run->lost_unknown)
		put_note(out, s, INK_CAREFUL, "%s: %s, of no thread that is in it: whose they are is not known, and what changed in all is not judged.", path, t.s);
	text_free(&t);
}

/* Why runs are too few, and how many would do: of the counters that are shown. */
static void put_too_few(struct text *out, const struct compare *c, const struct compare_shown *how, const struct style *s)
{
	size_t n[2] = { 0 }, enough[2] = { 0 };
	const char *exact = NULL;

	for (size_t k = 0; k < c->n_counters; k++)
		for (size_t i = 0; compare_counter_wanted(how, c->run[0].counter[k].name) && i <= c->n_rows; i++)
			for (size_t what = COMPARE_SELF; what <= COMPARE_TOTAL; what++) {
				const struct compare_row *row = i < c->n_rows ? &c->row[i] : &c->all;
				const struct compare_change *d = &row->change[what * c->n_counters + k];
				bool small = d->is.verdict == CHANGE_SMALL;

				if (!compare_too_few(d))
					continue;
				n[small] += 1;
				enough[small] = d->is.enough > enough[small] ? d->is.enough : enough[small];
				if (!small && c->one_thread && c->run[0].counter[k].quality == TARE_EXACT)
					exact = c->run[0].counter[k].name;
			}
	if (n[0] && c->tested)
		put_note(out, s, INK_CAREFUL, "Too few runs to tell: where the runs of each side agree, or one side has one run, noise that shows in only some runs parts %zu + %zu of them by chance, with a probability of up to %.2g for each label. %zu + %zu runs are enough.",
			 c->n[0], c->n[1], changes_unseen(c->n[0], c->n[1]), enough[0], enough[0]);
	if (n[1] && c->tested)
		put_note(out, s, INK_CAREFUL, "Too few runs to tell%s exact counts of several threads that lie within 4,000, or 0.01 %%, as they may by which thread comes first. %zu + %zu runs are enough.", n[0] ? ", too:" : ":", enough[1], enough[1]);
	if (exact)
		put_note(out, s, INK_CAREFUL, "%s is exact, and each recording has one thread: what differs is what was executed. That may be the change, or input, environment (its size, paths), addresses, random numbers or time.", exact);
}

void compare_text(struct text *out, struct compare *c, const struct compare_shown *how, const struct style *s)
{
	struct text verdict = { 0 };
	bool handlers = false;

	side(out, c, "before", 0, c->n[0], s);
	side(out, c, "after", c->n[0], c->n[1], s);
	for (size_t k = 0; k < c->n_counters; k++)
		if (compare_counter_wanted(how, c->run[0].counter[k].name))
			table(out, c, how, k, s);
	text_add(out, "\n");
	put_verdict(&verdict, c);
	if (!c->tested)
		put_note(out, s, INK_CAREFUL, "With one recording on each side nothing is known of the noise: any of these changes may be it. Several tell: tare diff BEFORE1 BEFORE2 BEFORE3 -- AFTER1 AFTER2 AFTER3.");
	else
		put_note(out, s, INK_FAINT, "before and after are self, means of the runs; a change is within its %s by 95 %%. By %s, with q by Benjamini and Hochberg: %s.",
			 s->utf8 ? "\u00b1" : "+-",
			 c->n[0] > 1 && c->n[1] > 1 ? "Welch's t test" : "Student's t test, the noise of the single run taken to be that of the others",
			 verdict.s ? verdict.s : "");
	text_free(&verdict);
	put_too_few(out, c, how, s);
	for (size_t r = 0; r < c->n_runs; r++)
		put_losses(out, c, r, s);
	for (size_t r = 0; r < c->n_runs; r++)
		handlers |= c->run[r].lost_handlers > 0;
	if (handlers)
		put_note(out, s, INK_CAREFUL, "Points of signal handlers were lost, as told below. Labels of theirs are not judged; nor is a change of self of another label that is no more than they may have cost, for that stands there.");
	for (size_t r = 0; r < c->n_runs; r++)
		if (c->run[r].recording[0].damage)
			put_note(out, s, INK_CAREFUL, "%s: %s.", c->run[r].recording[0].path, c->run[r].recording[0].damage);
}
