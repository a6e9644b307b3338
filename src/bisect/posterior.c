/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include "bisect/posterior.h"

#define TAIL_DF 8.0 /* of the t distribution: larger tails than a normal one */

bool posterior_new(struct posterior *p, size_t n)
{
	*p = (struct posterior){ .n = n, .words = n / 64 + 1 };
	p->includes = calloc(n * p->words + 1, sizeof(*p->includes));
	p->p = calloc(n + 1, sizeof(*p->p));
	if (!p->includes || !p->p)
		return false;
	for (size_t i = 0; i < n; i++) {
		p->includes[i * p->words + i / 64] |= 1ull << i % 64;
		p->p[i] = 1 / (double)n;
	}
	return true;
}

void posterior_parent(struct posterior *p, size_t child, size_t parent)
{
	for (size_t i = 0; i < p->words; i++)
		p->includes[child * p->words + i] |= p->includes[parent * p->words + i];
}

bool posterior_includes(const struct posterior *p, size_t commit, size_t ancestor)
{
	return p->includes[commit * p->words + ancestor / 64] >> ancestor % 64 & 1;
}

/* The logarithm of the density of x, without a constant. */
static double log_density(double x, double mean, double error)
{
	double z = (x - mean) / error;

	return -(TAIL_DF + 1) / 2 * log1p(z * z / TAIL_DF) - log(error);
}

/* The step, if commit i made it: the weighted mean of the commits that include it. */
static double step_of(const struct posterior *p, size_t i, const struct posterior_measure *m,
		      size_t n, double step)
{
	double sum = 0, weights = 0;

	for (size_t k = 0; k < n; k++) {
		double error = hypot(m[k].error, POSTERIOR_BUILD * step),
		       weight = 1 / (error * error);

		if (!posterior_includes(p, m[k].commit, i))
			continue;
		sum += weight * m[k].change;
		weights += weight;
	}
	return weights > 0 ? fmax(sum / weights, step / 2) : step;
}

void posterior_update(struct posterior *p, const struct posterior_measure *m, size_t n, double step)
{
	double most = -INFINITY, sum = 0;

	for (size_t i = 0; i < p->n; i++) {
		double own = step_of(p, i, m, n, step);

		p->p[i] = 0;
		for (size_t k = 0; k < n; k++)
			p->p[i] += log_density(m[k].change,
					       posterior_includes(p, m[k].commit, i) ? own : 0,
					       hypot(m[k].error, POSTERIOR_BUILD * step));
		most = fmax(most, p->p[i]);
	}
	for (size_t i = 0; i < p->n; i++)
		sum += p->p[i] = exp(p->p[i] - most);
	for (size_t i = 0; i < p->n; i++)
		p->p[i] /= sum;
}

/* The probability that it is slow. */
static double slow(const struct posterior *p, size_t commit)
{
	double sum = 0;

	for (size_t i = 0; i < p->n; i++)
		sum += posterior_includes(p, commit, i) ? p->p[i] : 0;
	return sum;
}

size_t posterior_next(const struct posterior *p, const double *open, double sure)
{
	size_t next = SIZE_MAX;
	double most = 0;

	for (size_t i = 0; i < p->n; i++) {
		double unsure = open[i] > 0 ? 0.5 - fabs(slow(p, i) - 0.5) : 0;

		if (unsure <= sure || unsure * open[i] <= most)
			continue;
		most = unsure * open[i];
		next = i;
	}
	return next;
}

size_t posterior_best(const struct posterior *p)
{
	size_t best = 0;

	for (size_t i = 1; i < p->n; i++)
		if (p->p[i] > p->p[best])
			best = i;
	return best;
}

void posterior_free(struct posterior *p)
{
	free(p->includes);
	free(p->p);
	*p = (struct posterior){ 0 };
}
