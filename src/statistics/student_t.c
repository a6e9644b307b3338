/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include "statistics/student_t.h"

enum { ROUNDS = 500 };

/*
 * The continued fraction of the incomplete beta function, by Lentz's method. Source: Abramowitz and
 * Stegun, 26.5.8.
 */
static double fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (int m = 1; m < ROUNDS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		f *= c * d;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = c * d;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f;
}

/* I_x(a, b), the regularised incomplete beta function. */
static double beta_share(double x, double a, double b)
{
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * fraction(x, a, b) / a;
	return 1 - front * fraction(1 - x, b, a) / b;
}

double student_p(double t, double df)
{
	if (!isfinite(t))
		return 0;
	return beta_share(df / (df + t * t), df / 2, 0.5);
}

double student_t(double p, double df)
{
	double low = 0, high = 1;

	while (student_p(high, df) > p && high < 1e12)
		high *= 2;
	for (int i = 0; i < 200; i++) {
		double mid = (low + high) / 2;

		if (student_p(mid, df) > p)
			low = mid;
		else
			high = mid;
	}
	return high;
}

/*
 * Mean and variance, from distances to the first number, so that equal numbers have a variance of
 * exactly 0.
 */
static double mean_of(const double *v, size_t n, double *variance)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i] - v[0];
	sum /= (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (v[i] - v[0] - sum) * (v[i] - v[0] - sum);
	*variance = n > 1 ? squares / (double)(n - 1) : 0;
	return v[0] + sum;
}

static void at_least(struct student_groups *g, double error, double df)
{
	g->p = fmax(g->p, student_p(g->change / error, df));
	g->half = fmax(g->half, student_t(0.05, df) * error);
}

struct student_groups student_compare(const double *a, size_t n_a, const double *b, size_t n_b)
{
	double va, vb, ma = mean_of(a, n_a, &va), mb = mean_of(b, n_b, &vb), na = (double)n_a,
		       nb = (double)n_b, df = na + nb - 2;
	struct student_groups g = { .change = mb - ma, .tested = n_a + n_b > 2, .p = 1 };
	double sa = va / na, sb = vb / nb;

	if (!g.tested)
		return g;
	if (va + vb == 0) {
		g.p = g.change == 0;
		return g;
	}
	g.p = 0;
	at_least(&g, sqrt((va * (na - 1) + vb * (nb - 1)) / df * (1 / na + 1 / nb)), df);
	if (n_a > 1 && n_b > 1)
		at_least(&g, sqrt(sa + sb),
			 (sa + sb) * (sa + sb) / (sa * sa / (na - 1) + sb * sb / (nb - 1)));
	return g;
}

struct ranked {
	double p;
	size_t at;
};

static int by_p(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->p, y = ((const struct ranked *)b)->p;

	return (x > y) - (x < y);
}

bool student_adjust(double *p, size_t n)
{
	struct ranked *order = calloc(n + 1, sizeof(*order));
	double least = 1;

	if (!order)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i] = (struct ranked){ p[i], i };
	qsort(order, n, sizeof(*order), by_p);
	for (size_t i = n; i-- > 0;) {
		double q = order[i].p * (double)n / (double)(i + 1);

		least = q < least ? q : least;
		p[order[i].at] = least;
	}
	free(order);
	return true;
}
