/* SPDX-License-Identifier: MIT */
/* Expresses an event as a sum of classes of work: fitted over the kinds of work, rounded, and
 * checked against every sample. */
#include <math.h>
#include <stdlib.h>
#include "scan/finding_private.h"

enum {
	DROPS = 3,         /* kinds of work that may be exceptions */
	PER_INTERRUPT = 2, /* at most this many per interrupt */
};

#define NEAR_INTEGER 0.02

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static bool is_sure(const struct table *t, const struct model *m, unsigned kind)
{
	for (size_t i = 0; m->how != AS_COUNTED && i < m->n; i++)
		if (!t->sure[kind][m->class[i]])
			return false;
	return true;
}

/* Solves a[n][n] x = b[n]; false if there is no unique solution. */
static bool solve(double a[TERMS][TERMS], double b[TERMS], size_t n, double x[TERMS])
{
	for (size_t c = 0; c < n; c++) {
		size_t best = c;

		for (size_t i = c + 1; i < n; i++)
			best = fabs(a[i][c]) > fabs(a[best][c]) ? i : best;
		if (fabs(a[best][c]) < 1e-9)
			return false;
		for (size_t k = 0; k < n; k++) {
			double swap = a[c][k];

			a[c][k] = a[best][k];
			a[best][k] = swap;
		}
		double swap = b[c];

		b[c] = b[best];
		b[best] = swap;
		for (size_t i = c + 1; i < n; i++) {
			double f = a[i][c] / a[c][c];

			for (size_t k = c; k < n; k++)
				a[i][k] -= f * a[c][k];
			b[i] -= f * b[c];
		}
	}
	for (size_t c = n; c-- > 0;) {
		x[c] = b[c];
		for (size_t k = c + 1; k < n; k++)
			x[c] -= a[c][k] * x[k];
		x[c] /= a[c][c];
	}
	return true;
}

/* Least squares over these kinds of work. */
static bool fit(const struct table *t, const struct shape *y, struct model *m, uint32_t kinds)
{
	double a[TERMS][TERMS] = { { 0 } }, b[TERMS] = { 0 };

	for (unsigned k = 0; k < WORK_KINDS; k++) {
		if (!(kinds >> k & 1))
			continue;
		for (size_t i = 0; i < m->n; i++) {
			b[i] += t->class[k][m->class[i]] * y->slope[k];
			for (size_t j = 0; j < m->n; j++)
				a[i][j] += t->class[k][m->class[i]] * t->class[k][m->class[j]];
		}
	}
	return solve(a, b, m->n, m->factor);
}

static double predicted_slope(const struct table *t, const struct model *m, unsigned kind)
{
	double sum = 0;

	for (size_t i = 0; i < m->n; i++)
		sum += m->factor[i] * t->class[kind][m->class[i]];
	return sum;
}

/* Rounds to quarters, because some events count pairs or every second one. With exceptions, to
 * whole numbers above 0. */
static bool round_factors(struct model *m)
{
	for (size_t i = 0; i < m->n; i++) {
		double quarters = round(4 * m->factor[i]);

		if (m->how == BUT_FOR_FEW && (quarters < 4 || fmod(quarters, 4) != 0))
			return false;
		if (quarters == 0 || fabs(4 * m->factor[i] - quarters) > 4 * NEAR_INTEGER)
			return false;
		m->factor[i] = quarters / 4;
	}
	return true;
}

/* Fits, leaving out the worst kind of work until the rest fits. */
static bool fit_but_for_few(const struct table *t, const struct shape *y, struct model *m)
{
	uint32_t kinds = 0;

	for (unsigned k = 0; k < WORK_KINDS; k++)
		if (t->kinds >> k & 1 && is_sure(t, m, k))
			kinds |= 1u << k;
	for (int drop = 0; drop <= DROPS; drop++) {
		double worst = 1e-6;
		int at = -1;

		if (drop && m->how != BUT_FOR_FEW)
			return false;
		if (!fit(t, y, m, kinds))
			return false;
		for (unsigned k = 0; k < WORK_KINDS; k++) {
			double off = kinds >> k & 1 ? fabs(y->slope[k] - predicted_slope(t, m, k))
						    : 0;

			if (off > worst) {
				worst = off;
				at = (int)k;
			}
		}
		if (at < 0)
			return round_factors(m);
		kinds &= ~(1u << at);
	}
	return false;
}

/* Limited to twice SCAN_COUNT_MOST, so that differences from counts do not overflow: a larger
 * sum fits no count. */
static int64_t predicted(const struct model *m, const struct scan_row *row)
{
	const double most = 2.0 * (double)SCAN_COUNT_MOST;
	double sum = 0;
	bool sure;

	for (size_t i = 0; i < m->n; i++)
		sum += m->factor[i] *
			(double)(int64_t)work_retires(row->kind, (enum work_class)m->class[i],
						      row -> turns, &sure);
	return (int64_t)llround(sum > most ? most : sum < -most ? -most : sum);
}

/* The constant that most rows have in addition to the terms. */
static int64_t find_fixed(const struct table *t, const struct shape *y, const struct model *m)
{
	int64_t x[SCAN_ROWS_MOST], found = 0;
	size_t n = 0, best = 0;

	for (size_t i = 0; i < t->scan->rows; i++)
		if (t->scan->row[i].kind != WORK_PAGES && is_sure(t, m, t->scan->row[i].kind))
			x[n++] = y->typical[i] - predicted(m, &t->scan->row[i]);
	qsort(x, n, sizeof(*x), compare);
	for (size_t i = 0, run = 0; i < n; i++) {
		run = i && x[i] == x[i - 1] ? run + 1 : 1;
		if (run > best) {
			best = run;
			found = x[i];
		}
	}
	return found;
}

/* Checks each sample: it must be the terms plus the constant, and at most what interrupts may
 * add. */
static void judge(const struct table *t, const struct shape *y, struct model *m)
{
	const struct scan *s = t->scan;

	m->fixed = find_fixed(t, y, m);
	m->wrong = m->differs = 0;
	m->samples = m->right = 0;
	m->over = m->interrupts = 0;
	for (size_t i = 0; i < s->rows * SCAN_ROUNDS; i++) {
		const struct scan_row *row = &s->row[i % s->rows];
		bool is_long = i % s->rows == s->rows - 1;
		int64_t most = (int64_t)PER_INTERRUPT * y->event->interrupts[i], rest;

		rest = y->event->count[i] - predicted(m, row) -
			(row->kind == WORK_PAGES ? 0 : m->fixed);
		if (rest > most || rest < (row->kind == WORK_PAGES ? -most : 0)) {
			if (is_sure(t, m, row->kind))
				m->wrong |= 1u << row->kind;
			else
				m->differs |= 1u << row->kind;
			m->samples++;
			continue;
		}
		m->samples++;
		m->right++;
		/* With short work most of the interrupts arrived before or after it. */
		m->over += is_long ? (double)rest : 0;
		m->interrupts += is_long ? y->event->interrupts[i] : 0;
	}
}

/* There may be only a few exceptions, in kinds of work that contain the terms' classes; most of
 * these kinds must match. */
static bool accepted(const struct table *t, const struct model *m)
{
	uint32_t has = 0;

	for (size_t i = 0; i < m->n; i++)
		has |= t->has[m->class[i]];
	if (m->wrong & ~has || __builtin_popcount(m->wrong) > DROPS)
		return false;
	return m->fixed >= 0 &&
		(!m->wrong ||
		 __builtin_popcount(has & ~m->wrong) >= 3 * __builtin_popcount(m->wrong));
}

static bool better(const struct model *a, const struct model *b)
{
	double x = (double)a->right / (double)a->samples, y = (double)b->right / (double)b->samples;

	return !b->samples || x > y + 1e-9;
}

static bool as_good(const struct model *a, const struct model *b)
{
	return b->samples &&
		fabs((double)a->right / (double)a->samples -
		     (double)b->right / (double)b->samples) < 1e-9;
}

/* Does every kind of work that counts, except those that depend on the processor, contain one of
 * these classes? */
static bool covers(const struct table *t, const struct model *m, uint32_t counted)
{
	uint32_t has = 0, unsure = 0;

	for (size_t i = 0; i < m->n; i++)
		has |= t->has[m->class[i]];
	for (unsigned k = 0; k < WORK_KINDS; k++)
		unsure |= (uint32_t)!is_sure(t, m, k) << k;
	return __builtin_popcount(counted & ~has & ~unsure) == 0;
}

static void try_model(const struct table *t, const struct shape *y, struct model *m,
		      struct model *best, unsigned *also)
{
	if (!fit_but_for_few(t, y, m))
		return;
	judge(t, y, m);
	if (!accepted(t, m) || (m->wrong && m->how != BUT_FOR_FEW))
		return;
	if (better(m, best)) {
		*best = *m;
		*also = 0;
	} else if (as_good(m, best)) {
		++*also;
	}
}

static void try_sums(const struct table *t, const struct shape *y, size_t n, uint32_t counted,
		     enum strictness how, struct model *best, unsigned *also)
{
	for (unsigned a = 0; a < WORK_CLASSES; a++)
		for (unsigned b = n > 1 ? a + 1 : WORK_CLASSES - 1; b < WORK_CLASSES; b++)
			for (unsigned c = n > 2 ? b + 1 : WORK_CLASSES - 1; c < WORK_CLASSES; c++) {
				struct model m = { .how = how, .n = n, .class = { a, b, c } };

				if (t->has[a] && (n < 2 || t->has[b]) && (n < 3 || t->has[c]) &&
				    covers(t, &m, counted))
					try_model(t, y, &m, best, also);
			}
}

bool scan_find_model(const struct table *t, const struct shape *y, struct model *best,
		     unsigned *also)
{
	uint32_t counted = 0;
	struct model none = { .n = 0 };

	*best = (struct model){ 0 };
	*also = 0;
	for (unsigned k = 0; k < WORK_KINDS; k++)
		counted |= (uint32_t)(fabs(y->slope[k]) > 1e-9) << k;
	judge(t, y, &none);
	if (!none.wrong && none.fixed >= 0) {
		*best = none;
		return true;
	}
	/* Prefer three classes without exceptions to one class with exceptions. */
	for (int how = 0; how < STRICTNESSES; how++)
		for (size_t n = 1;
		     n <= (how == BUT_FOR_FEW || !y->repeats ? 1 : TERMS) && !best->samples; n++)
			try_sums(t, y, n, counted, (enum strictness)how, best, also);
	return best->samples > 0;
}
