/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/clock_step.h"

enum { READINGS = 256, SPANS = 6, WAIT = 1 << 20, TRIES = 3, SLACK = 3, VISITS = 1 << 20 };

static int by_value(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

static uint64_t common(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

struct search {
	const uint64_t *v; /* ascending, each once */
	size_t n;
	double slack;
	unsigned visits; /* visits left */
};

/*
 * The largest step between low and high (exclusive) that divides v[at..], each within
 * slack; 0: none. The larger the step, the smaller the multiple of each difference.
 */
static double largest(struct search *s, size_t at, double low, double high)
{
	double v, found = 0;

	if (at == s->n)
		return (low + high) / 2;
	if (s->visits == 0)
		return 0;
	s->visits--;
	v = (double)s->v[at];
	for (double m = fmax(0, ceil((v - s->slack) / high)); !found && m * low < v + s->slack;
	     m++) {
		double from = m > 0 ? fmax(low, (v - s->slack) / m) : low,
		       to = m > 0 ? fmin(high, (v + s->slack) / m) : high;

		if (from < to && (m > 0 || v < s->slack))
			found = largest(s, at + 1, from, to);
	}
	return found;
}

/*
 * One in `step` of all whole numbers is a multiple of it, and 2 x slack in `step` are within slack
 * of one. A step that fits and makes such numbers much rarer than the common divisor does is not
 * found by chance; so no fractional step below 4 is found.
 */
double clock_step_of(uint64_t *v, size_t n)
{
	struct search s = { .v = v };
	double step, rare;
	uint64_t all = 0;

	qsort(v, n, sizeof(*v), by_value);
	for (size_t i = 0; i < n && v[i] <= CLOCK_STEP_FAR; i++) {
		all = common(all, v[i]);
		if (v[i] && (s.n == 0 || v[s.n - 1] != v[i]))
			v[s.n++] = v[i];
	}
	if (s.n == 0)
		return 0;
	step = rare = (double)all;
	for (s.slack = 1; s.slack <= SLACK; s.slack++) {
		double found;

		s.visits = VISITS;
		found = largest(&s, 0, 4 * s.slack * rare, (double)v[s.n - 1] + s.slack);
		if (found > 0) {
			step = found;
			rare = found / (2 * s.slack);
		}
	}
	return step;
}

/* Spend some time, different each time, so that the distances of readings vary. */
static void dawdle(unsigned turns)
{
	for (volatile unsigned i = 0; i < turns; i++)
		;
}

static double try_once(uint64_t (*read)(void *), void *data)
{
	uint64_t at[READINGS], apart[SPANS * READINGS];
	size_t n = 0;

	for (unsigned i = 0; i < READINGS; i++) {
		uint64_t before = i ? at[i - 1] : read(data);

		dawdle(i * 7 % 32);
		at[i] = read(data);
		for (unsigned k = 0; k < WAIT && at[i] == before; k++)
			at[i] = read(data);
		if (at[i] == before)
			return 0;
	}
	for (unsigned span = 0; span < SPANS; span++)
		for (unsigned i = 1U << span; i < READINGS; i++)
			apart[n++] = at[i] - at[i - (1U << span)];
	return clock_step_of(apart, n);
}

/*
 * One wrong reading hides the step, and none creates one: the largest result of a few attempts is
 * right.
 */
double clock_step(uint64_t (*read)(void *), void *data)
{
	double step = 0;

	for (int i = 0; i < TRIES; i++)
		step = fmax(step, try_once(read, data));
	return step;
}
