/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include "statistics/significance.h"

#define ENOUGH                                                                                     \
	0.001 /* threshold of significance_unseen(): with enough runs, rare noise appears, too */

enum { STEPS = 200, RUNS_MAX = 100 };

static double parted(double f, double a, double b)
{
	return pow(f, a) * pow(1 - f, b) + pow(1 - f, a) * pow(f, b);
}

double significance_unseen(size_t n_before, size_t n_after)
{
	double a = (double)n_before, b = (double)n_after, most = 0, at = 0;

	if (n_before + n_after <= 2)
		return 1;
	for (int i = 1; i <= STEPS; i++) {
		double f = 0.5 * i / STEPS, p = parted(f, a, b);

		at = p > most ? f : at;
		most = p > most ? p : most;
	}
	for (double step = 0.5 / STEPS; step > 1e-9; step /= 2)
		for (int way = -1; way <= 1; way += 2)
			if (at + way * step <= 0.5 &&
			    parted(at + way * step, a, b) > most * (1 + 1e-12)) {
				at += way * step;
				most = parted(at, a, b);
			}
	return most;
}

/* The smallest number of runs per side that can give such a p. */
static size_t runs_for(double p)
{
	size_t n = 2;

	while (n < RUNS_MAX && significance_unseen(n, n) > p)
		n++;
	return n;
}

static double range(const double *v, size_t n)
{
	double low = v[0], high = v[0];

	for (size_t i = 1; i < n; i++) {
		low = fmin(low, v[i]);
		high = fmax(high, v[i]);
	}
	return high - low;
}

static void at_least(struct change *c, double p, enum change_by by)
{
	if (c->test.p > p)
		return;
	c->test.p = p;
	c->by = by;
}

static double pooled_variance(const double *v, size_t n_a, size_t n_b)
{
	double squares = 0;

	for (size_t side = 0; side < 2; side++) {
		const double *of = side ? v + n_a : v;
		size_t n = side ? n_b : n_a;
		double mean = 0;

		for (size_t i = 0; i < n; i++)
			mean += of[i] / (double)n;
		for (size_t i = 0; i < n; i++)
			squares += (of[i] - mean) * (of[i] - mean);
	}
	return squares / (double)(n_a + n_b - 2);
}

/*
 * The interval and the p of a drift, if they are larger. A change that only the other test finds is
 * then not judged.
 */
static void allow_for_drift(struct change *c, size_t n_a, size_t n_b)
{
	double error, p;

	if (!c->drift || !c->drift->blocks || !c->test.tested)
		return;
	error = sqrt(c->drift->ratio * pooled_variance(c->value, n_a, n_b));
	if (!c->unseen)
		c->test.half = fmax(c->test.half, student_t(0.05, c->drift->df) * error);
	p = c->unseen ? 1 : student_p(c->test.change / error, c->drift->df);
	if (c->test.p <= SIGNIFICANCE_Q)
		at_least(c, p, CHANGE_BY_DRIFT);
}

/* Can these runs answer the question? */
static bool asks(struct change *c, size_t n_before, size_t n_after, double unseen)
{
	double resolution = unseen <= ENOUGH ? 0 : c->resolution,
	       all = range(c->value, n_before + n_after);

	c->test = student_compare(c->value, n_before, c->value + n_before, n_after);
	c->unseen = range(c->value, n_before) <= resolution &&
		range(c->value + n_before, n_after) <= resolution;
	c->q = 1;
	c->by = CHANGE_BY_T;
	c->verdict = all == 0       ? CHANGE_NONE
		: all <= resolution ? CHANGE_SMALL
		: c->test.tested    ? CHANGE_WITHIN
				    : CHANGE_FEW;
	c->enough = c->verdict == CHANGE_SMALL ? runs_for(ENOUGH)
		: c->verdict == CHANGE_FEW     ? runs_for(SIGNIFICANCE_Q)
					       : 0;
	if (all > 0 && c->unseen)
		at_least(c, unseen, CHANGE_BY_BARNARD);
	/* its rare noise may differ from all that the other runs show */
	else if (all > 0 && (n_before == 1 || n_after == 1))
		at_least(c, 2 / (double)(n_before + n_after), CHANGE_BY_RANK);
	if (c->verdict == CHANGE_WITHIN && all > 0)
		allow_for_drift(c, n_before, n_after);
	return c->verdict == CHANGE_WITHIN;
}

bool significance_judge(struct change *c, size_t n, size_t n_before, size_t n_after)
{
	double unseen = significance_unseen(n_before, n_after), *q = calloc(n + 1, sizeof(*q));
	size_t asked = 0, at = 0;
	bool good;

	for (size_t i = 0; q && i < n; i++)
		if (asks(&c[i], n_before, n_after, unseen))
			q[asked++] = c[i].test.p;
	good = q && student_adjust(q, asked);
	for (size_t i = 0; good && i < n; i++) {
		if (c[i].verdict != CHANGE_WITHIN)
			continue;
		c[i].q = q[at++];
		if (c[i].test.change != 0 && c[i].q <= SIGNIFICANCE_Q) {
			c[i].verdict = CHANGE_BEYOND;
		} else if (c[i].by == CHANGE_BY_DRIFT) {
			c[i].verdict = CHANGE_ORDER;
		} else if (c[i].by != CHANGE_BY_T) {
			c[i].verdict = CHANGE_FEW;
			c[i].enough = runs_for(SIGNIFICANCE_Q * c[i].test.p / c[i].q);
		}
	}
	free(q);
	return good;
}
