/* SPDX-License-Identifier: MIT */
/*
 * Source: Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", 3.1 to 3.3: the test,
 * the estimate from the Walsh averages, the interval between two of their order statistics.
 */
#include <math.h>
#include <stdlib.h>
#include "statistics/median.h"
#include "statistics/signed_rank.h"

/*
 * Above it, the normal distribution is used. Its tails are larger than those of the rank sum, so
 * the interval is not too narrow.
 */
enum { EXACT_MOST = 50 };

static size_t sums(size_t n)
{
	return n * (n + 1) / 2;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* P(T <= k), where each of the ranks 1 to n is in the sum T with probability 1/2. */
static double *exact_tail(size_t n)
{
	size_t most = sums(n);
	double *p = calloc(most + 1, sizeof(*p));

	if (!p)
		return NULL;
	p[0] = 1;
	for (size_t rank = 1; rank <= n; rank++)
		for (size_t k = sums(rank) + 1; k-- > 0;)
			p[k] = (p[k] + (k >= rank ? p[k - rank] : 0)) / 2;
	for (size_t k = 1; k <= most; k++)
		p[k] += p[k - 1];
	return p;
}

static double tail(const struct signed_rank *r, size_t k)
{
	double n = (double)r->n, mean = n * (n + 1) / 4, sd = sqrt(mean * (2 * n + 1) / 6);

	if (r->tail)
		return r->tail[k];
	return erfc((mean - (double)k - 0.5) / sd / sqrt(2)) / 2;
}

bool signed_rank_of(struct signed_rank *r, const double *difference, size_t n)
{
	size_t most = sums(n), at = 0;

	*r = (struct signed_rank){ .n = n, .walsh = calloc(most + 1, sizeof(double)) };
	if (n <= EXACT_MOST)
		r->tail = exact_tail(n);
	if (!r->walsh || (n <= EXACT_MOST && !r->tail))
		return false;
	for (size_t i = 0; i < n; i++)
		for (size_t k = i; k < n; k++)
			r->walsh[at++] = (difference[i] + difference[k]) / 2;
	qsort(r->walsh, most, sizeof(*r->walsh), by_value);
	r->estimate = median_of_real(r->walsh, most);
	return true;
}

bool signed_rank_interval(const struct signed_rank *r, double level, double *low, double *high)
{
	size_t most = sums(r->n), out = 0, top = most / 2;

	/* the largest number of means that may be outside on each side */
	while (out < top) {
		size_t middle = out + (top - out + 1) / 2;

		if (tail(r, middle - 1) <= level / 2)
			out = middle;
		else
			top = middle - 1;
	}
	if (!out)
		return false;
	*low = r->walsh[out - 1];
	*high = r->walsh[most - out];
	return true;
}

double signed_rank_p(const struct signed_rank *r, double at)
{
	size_t below = 0, above = 0, most = sums(r->n);

	for (size_t i = 0; i < most; i++) {
		below += r->walsh[i] <= at;
		above += r->walsh[i] >= at;
	}
	return fmin(1, 2 * tail(r, below < above ? below : above));
}

size_t signed_rank_least(double level)
{
	return (size_t)ceil(1 - log2(level));
}

void signed_rank_free(struct signed_rank *r)
{
	free(r->walsh);
	free(r->tail);
	*r = (struct signed_rank){ 0 };
}
