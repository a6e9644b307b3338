/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include "scan/finding_private.h"

enum {
	INTERRUPTS_FEW = 3, /* with fewer, interrupts are ignored */
	PAIRS_MOST = 300,   /* events among which sums of two are looked for */
	STEADY = 3,         /* of the rounds */
};

/*
 * Share of the interrupts around the long work that hit it; the rest arrived before or after it.
 */
#define HITS          0.5
#define FOLLOWS_LEAST 0.95
#define CLOSE_LEAST   0.8

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The most frequent of a row's samples, or their median if none is frequent. */
static int64_t typical_of(const struct scan *s, const struct scan_event *e, size_t row,
			  bool *steady, double *spread)
{
	int64_t x[SCAN_ROUNDS], found;
	size_t best = 0;

	for (size_t r = 0; r < SCAN_ROUNDS; r++)
		x[r] = e->count[r * s->rows + row];
	qsort(x, SCAN_ROUNDS, sizeof(*x), compare);
	found = x[SCAN_ROUNDS / 2];
	*spread = (double)(x[SCAN_ROUNDS - 2] - x[1]);
	for (size_t i = 0, run = 0; i < SCAN_ROUNDS; i++) {
		run = i && x[i] == x[i - 1] ? run + 1 : 1;
		if (run > best) {
			best = run;
			if (run >= STEADY)
				found = x[i];
		}
	}
	*steady = best >= STEADY;
	return found;
}

static void make_shape(const struct scan *s, const struct scan_event *e, struct shape *out)
{
	size_t steady = 0, rows = s->rows - 1;
	double spread[SCAN_ROWS_MOST];
	bool is;

	*out = (struct shape){ .event = e };
	for (size_t i = 0; i < s->rows; i++) {
		out->typical[i] = typical_of(s, e, i, &is, &spread[i]);
		steady += is && i < rows;
	}
	for (size_t i = 0; i + 1 < s->rows; i++) {
		double more = (double)(out->typical[i + 1] - out->typical[i]),
		       turns = (double)(s->row[i + 1].turns - s->row[i].turns);

		/* A difference within the spread of either row is due to chance. */
		if (s->row[i].kind == s->row[i + 1].kind && fabs(more) > spread[i] + spread[i + 1])
			out->slope[s->row[i].kind] = more / turns;
	}
	out->repeats = steady * 10 >= rows * 9;
}

static void make_table(const struct scan *s, struct table *t)
{
	*t = (struct table){ .scan = s };
	for (size_t i = 0; i < s->rows; i++) {
		unsigned kind = s->row[i].kind;

		t->kinds |= 1u << kind;
		for (unsigned c = 0; c < WORK_CLASSES; c++) {
			const struct kernel *k = kernel_at(kind);

			work_retires(kind, (enum work_class)c, 1, &t->sure[kind][c]);
			t->sure[kind][c] |= kind == WORK_PAGES; /* of new pages, minus the same
								 * pages accessed again */
			t->class[kind][c] = k ? (double)k->per_turn[c] : c == WORK_FAULTS;
			if (t->class[kind][c] != 0)
				t->has[c] |= 1u << kind;
		}
	}
}

static void state_model(const struct table *t, const struct model *m, unsigned also,
			struct scan_finding *f)
{
	double each = m->interrupts > 0 ? m->over / m->interrupts : 0;

	f->meaning = SCAN_COUNTS;
	f->fixed = m->fixed;
	f->except = m->wrong | m->differs;
	f->also = also;
	f->explained = (double)m->right / (double)m->samples;
	for (size_t i = 0; i < m->n; i++)
		f->term[f->n++] = (struct scan_term){ TERM_CLASS, m->class[i], m -> factor[i] };
	if (!t->scan->interrupts_guessed && m->interrupts >= INTERRUPTS_FEW && each >= HITS)
		f->term[f->n++] = (struct scan_term){ TERM_INTERRUPTS, 0, each > 1 + HITS ? 2 : 1 };
	if (!f->n)
		f->meaning = m->over > 0 ? SCAN_UNKNOWN : SCAN_CONSTANT;
	f->sure = !f->except && !also && f->meaning != SCAN_UNKNOWN ? SCAN_CERTAIN : SCAN_LIKELY;
	if (f->meaning == SCAN_UNKNOWN)
		f->sure = SCAN_NO_IDEA;
}

/* ---- other events ---- */

static bool same_shape(const struct scan *s, const struct shape *y, const struct shape *a,
		       const struct shape *b)
{
	int64_t fixed = 0;

	for (size_t i = 0; i < s->rows; i++) {
		int64_t rest = y->typical[i] - a->typical[i] - (b ? b->typical[i] : 0);

		if (s->row[i].kind == WORK_PAGES ? rest != 0 : i && rest != fixed)
			return false;
		fixed = i ? fixed : rest;
	}
	return true;
}

static bool is_flat(const struct shape *y)
{
	for (unsigned k = 0; k < WORK_KINDS; k++)
		if (y->slope[k] != 0)
			return false;
	return true;
}

/* An event select with several bits adds nothing to what each bit counts. */
static bool may_explain(const struct shape *a)
{
	return a->repeats && !is_flat(a) && __builtin_popcount(a->event->umask) <= 1;
}

/* Finds an event that counts the same, or two events with this sum. */
static bool find_sum(const struct scan *s, const struct shape *all, size_t n, size_t at,
		     struct scan_finding *f)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i; k < n && n <= PAIRS_MOST; k++) {
			const struct shape *a = &all[i], *b = k == i ? NULL : &all[k];

			if (i == at || k == at || !may_explain(a) || (b && !may_explain(b)))
				continue;
			if (!same_shape(s, &all[at], a, b))
				continue;
			f->meaning = SCAN_SUM;
			f->sure = SCAN_LIKELY;
			f->term[f->n++] = (struct scan_term){ TERM_EVENT,
							      (size_t)(a->event - s->event), 1 };
			if (b)
				f->term[f->n++] = (struct scan_term){ TERM_EVENT,
								      (size_t)(b->event - s->event),
								      1 };
			return true;
		}
	return false;
}

/* Correlation over the kinds of work, the factor, and the share that both have in common: 1 for
 * all. */
static double correlate(const double *y, const double *x, uint32_t kinds, double *factor,
			double *common)
{
	double n = 0, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0, apart = 0, both = 0, spread;

	for (unsigned k = 0; k < WORK_KINDS; k++) {
		if (!(kinds >> k & 1))
			continue;
		n++;
		sx += x[k];
		sy += y[k];
		sxx += x[k] * x[k];
		syy += y[k] * y[k];
		sxy += x[k] * y[k];
	}
	*factor = sxx > 0 ? sxy / sxx : 0;
	for (unsigned k = 0; k < WORK_KINDS; k++)
		if (kinds >> k & 1) {
			apart += fabs(y[k] - *factor * x[k]);
			both += fabs(y[k]) + fabs(*factor * x[k]);
		}
	*common = both > 0 ? 1 - apart / both : 0;
	spread = (sxx - sx * sx / n) * (syy - sy * sy / n);
	return spread > 0 ? (sxy - sx * sy / n) / sqrt(spread) : 0;
}

static unsigned largest(const double *y, uint32_t kinds)
{
	unsigned best = 0;

	for (unsigned k = 0; k < WORK_KINDS; k++)
		if (kinds >> k & 1 && fabs(y[k]) > fabs(y[best]))
			best = k;
	return best;
}

/* Does y follow x more closely than the best term so far? It must do so without y's largest kind
 * of work, too. */
static void consider(struct scan_finding *f, const double *y, const double *x, uint32_t kinds,
		     struct scan_term term)
{
	double factor, common, r = correlate(y, x, kinds, &factor, &common);
	double rest;
	unsigned both = 0;

	/* With a single kind of work, everything correlates. */
	for (unsigned k = 0; k < WORK_KINDS; k++)
		both += x[k] != 0 && y[k] != 0;
	if (both < 2)
		return;
	if (r < FOLLOWS_LEAST || common < CLOSE_LEAST || r <= f->correlation)
		return;
	correlate(y, x, kinds & ~(1u << largest(y, kinds)), &rest, &common);
	if (common < CLOSE_LEAST)
		return;
	f->meaning = SCAN_FOLLOWS;
	f->sure = SCAN_PERHAPS;
	f->correlation = r;
	term.factor = factor;
	f->term[0] = term;
	f->n = 1;
}

static void find_like(const struct table *t, const struct shape *y, const struct shape *known,
		      size_t n_known, struct scan_finding *f)
{
	for (size_t i = 0; i < n_known; i++)
		if (known[i].event)
			consider(f, y->slope, known[i].slope, t->kinds,
				 (struct scan_term){ TERM_KNOWN, i, 1 });
	for (unsigned c = 0; c < WORK_CLASSES; c++) {
		double x[WORK_KINDS];

		for (unsigned k = 0; k < WORK_KINDS; k++)
			x[k] = t->class[k][c];
		if (t->has[c])
			consider(f, y->slope, x, t->kinds, (struct scan_term){ TERM_CLASS, c, 1 });
	}
}

static void find_top(const struct shape *y, struct scan_finding *f)
{
	uint32_t taken = 0;

	for (size_t i = 0; i < SCAN_TOP; i++) {
		unsigned best = WORK_KINDS;

		for (unsigned k = 0; k < WORK_KINDS; k++)
			if (!(taken >> k & 1) &&
			    y->slope[k] > (best == WORK_KINDS ? 0 : y->slope[best]))
				best = k;
		f->top[i] = best;
		f->per_turn[i] = best < WORK_KINDS ? y->slope[best] : 0;
		taken |= best < WORK_KINDS ? 1u << best : 0;
	}
}

/* A count far below 0 is not valid: bits are missing. */
static bool is_broken(const struct scan *s, const struct scan_event *e)
{
	for (size_t i = 0; i < s->rows * SCAN_ROUNDS; i++)
		if (s->row[i % s->rows].kind != WORK_PAGES && e->count[i] < 0)
			return true;
	return false;
}

int scan_explain(const struct scan *s, const struct scan_known *known, size_t n_known,
		 struct scan_finding *out, struct tare_error *err)
{
	struct shape *all = calloc(s->n + n_known + 1, sizeof(*all)),
		     *others = all ? all + s->n : NULL;
	size_t *at = calloc(s->n + 1, sizeof(*at)), n = 0;
	struct table t;

	if (!all || !at) {
		free(all);
		free(at);
		return tare_fail_nomem(err);
	}
	make_table(s, &t);
	for (size_t i = 0; i < n_known; i++)
		if (known[i].event && known[i].event->state == SCAN_LIVE)
			make_shape(s, known[i].event, &others[i]);
	for (size_t i = 0; i < s->n; i++) {
		struct model m;
		unsigned also;
		struct shape y;

		out[i] = (struct scan_finding){ .meaning = SCAN_UNKNOWN };
		if (s->event[i].state != SCAN_LIVE)
			continue;
		make_shape(s, &s->event[i], &y);
		out[i].repeats = y.repeats;
		find_top(&y, &out[i]);
		if (is_broken(s, &s->event[i])) {
			out[i].meaning = SCAN_BROKEN;
			out[i].sure = SCAN_CERTAIN;
		} else if (scan_find_model(&t, &y, &m, &also)) {
			state_model(&t, &m, also, &out[i]);
		} else {
			at[n] = i;
			all[n++] = y;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (!all[i].repeats || !find_sum(s, all, n, i, &out[at[i]]))
			find_like(&t, &all[i], others, n_known, &out[at[i]]);
	free(all);
	free(at);
	return 0;
}

/* The most common difference between the rows of two events: reading them has different
 * overhead. */
static int64_t usual_difference(const struct scan *s, const struct shape *x, const struct shape *y)
{
	int64_t d[SCAN_ROWS_MOST], found = 0;
	size_t n = 0, best = 0;

	for (size_t i = 0; i < s->rows; i++)
		if (s->row[i].kind != WORK_PAGES)
			d[n++] = x->typical[i] - y->typical[i];
	qsort(d, n, sizeof(*d), compare);
	for (size_t i = 0, run = 0; i < n; i++) {
		run = i && d[i] == d[i - 1] ? run + 1 : 1;
		if (run > best) {
			best = run;
			found = d[i];
		}
	}
	return found;
}

struct scan_near scan_nearness(const struct scan *s, const struct scan_event *a,
			       const struct scan_event *b)
{
	struct scan_near near = { 0 };
	struct shape x, y;
	struct table t;
	size_t equal = 0, rows = 0;
	int64_t fixed;
	double common;

	make_table(s, &t);
	make_shape(s, a, &x);
	make_shape(s, b, &y);
	fixed = usual_difference(s, &x, &y);
	for (size_t i = 0; i < s->rows; i++) {
		unsigned kind = s->row[i].kind;

		if (x.slope[kind] == 0 && y.slope[kind] == 0)
			continue;
		rows++;
		equal += x.typical[i] - y.typical[i] == (kind == WORK_PAGES ? 0 : fixed);
	}
	near.equal = rows ? (double)equal / (double)rows : 0;
	near.correlation = correlate(x.slope, y.slope, t.kinds, &near.factor, &common);
	return near;
}
