/* SPDX-License-Identifier: MIT */
/*
 * Two runs at the times s and t differ by a random walk with variance |s - t|, in some unit. For
 * weights w with sum 0, such as those of the difference of two means, the variance of the weighted
 * sum is -1/2 sum w_i w_j |t_i - t_j|. The pooled variance of the runs has the expectation tr(S) /
 * (n - 2) and the variance 2 tr(S S) / (n - 2)^2, where S is the covariance about each side's mean.
 * Its degrees of freedom are tr(S)^2 / tr(S S).
 *
 * Source: Satterthwaite, "An approximate distribution of estimates of variance components",
 * Biometrics Bulletin 2, 1946.
 */
#include <math.h>
#include <stdlib.h>
#include "statistics/drift.h"

struct plan {
	double *at, *mean; /* per run: its time, its mean distance to the runs of [side] */
	size_t n, n_a;
	double whole[2][2]; /* mean distance between the runs of two sides */
};

static size_t side_of(const struct plan *p, size_t run)
{
	return run >= p->n_a;
}

static double size_of(const struct plan *p, size_t side)
{
	return (double)(side ? p->n - p->n_a : p->n_a);
}

static void take_means(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t j = 0; j < p->n; j++) {
			double part = fabs(p->at[i] - p->at[j]) / size_of(p, side_of(p, j));

			p->mean[2 * i + side_of(p, j)] += part;
			p->whole[side_of(p, i)][side_of(p, j)] += part / size_of(p, side_of(p, i));
		}
}

/* The covariance of two runs about the means of their sides. */
static double covariance(const struct plan *p, size_t i, size_t j)
{
	size_t a = side_of(p, i), b = side_of(p, j);

	return -0.5 *
		(fabs(p->at[i] - p->at[j]) - p->mean[2 * i + b] - p->mean[2 * j + a] +
		 p->whole[a][b]);
}

static void judge(struct drift *d, const struct plan *p)
{
	double of_difference = p->whole[0][1] - (p->whole[0][0] + p->whole[1][1]) / 2, trace = 0,
	       squares = 0, pooled;

	for (size_t i = 0; i < p->n; i++) {
		trace += covariance(p, i, i);
		for (size_t j = 0; j < p->n; j++)
			squares += covariance(p, i, j) * covariance(p, i, j);
	}
	if (trace <= 0 || squares <= 0)
		return;
	pooled = trace / (double)(p->n - 2);
	d->ratio = of_difference / pooled;
	d->df = trace * trace / squares;
	d->blocks = d->ratio > 1 / size_of(p, 0) + 1 / size_of(p, 1);
}

bool drift_of(struct drift *d, const uint64_t *start_ns, size_t n_a, size_t n_b)
{
	struct plan p = { .n = n_a + n_b, .n_a = n_a };
	bool known = true, good;
	uint64_t first = UINT64_MAX;

	*d = (struct drift){ 0 };
	if (p.n < 3)
		return true;
	p.at = calloc(p.n, sizeof(*p.at));
	p.mean = calloc(2 * p.n, sizeof(*p.mean));
	good = p.at && p.mean;
	for (size_t i = 0; i < p.n; i++) {
		known &= start_ns[i] != 0;
		first = start_ns[i] < first ? start_ns[i] : first;
	}
	for (size_t i = 0; good && i < p.n; i++)
		p.at[i] = known ? (double)(start_ns[i] - first) : (double)i;
	if (good) {
		take_means(&p);
		judge(d, &p);
	}
	free(p.at);
	free(p.mean);
	return good;
}
