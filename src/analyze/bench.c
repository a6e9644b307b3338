/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/bench.h"
#include "analyze/student.h"

enum { BLOCKS = 20, LEAST_PER_BLOCK = 5 };

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

static double median_of(const double *sorted, size_t n)
{
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

static double variance_of(const double *v, size_t n, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return n > 1 ? sum / (double)(n - 1) : 0;
}

static double mean_of(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i] - v[0]; /* of numbers that are alike the mean is that number */
	return v[0] + sum / (double)n;
}

/* Source: as spread_of(). */
static size_t outliers_of(const double *sorted, size_t n, double *distance)
{
	double median = median_of(sorted, n), mad, mean, limit;
	size_t far = 0;

	if (n < 5)
		return 0;
	for (size_t i = 0; i < n; i++)
		distance[i] = fabs(sorted[i] - median);
	mean = mean_of(distance, n);
	qsort(distance, n, sizeof(*distance), by_value);
	mad = median_of(distance, n);
	limit = mad > 0 ? 3.5 * 1.4826 * mad : 3.5 * 1.2533 * mean;
	for (size_t i = 0; i < n; i++)
		far += distance[i] > limit;
	return far;
}

struct interval {
	double low, middle, high, mean, variance;
};

/* The mean of the middle half of sorted numbers. */
static double middle_of(const double *sorted, size_t n)
{
	return mean_of(sorted + n / 4, n - 2 * (n / 4));
}

/* Source: Tukey and McLaughlin, "Less Vulnerable Confidence and Significance Procedures for Location", Sankhya A 25, 1963. */
static struct interval interval_of(const double *v, double *sorted, double *scratch, size_t n)
{
	size_t cut = n / 4, left = n - 2 * cut;
	struct interval s = { 0 };
	double half = 0;

	memcpy(sorted, v, n * sizeof(*v));
	qsort(sorted, n, sizeof(*sorted), by_value);
	for (size_t i = 0; i < n; i++)
		scratch[i] = sorted[i < cut ? cut : i >= n - cut ? n - cut - 1 : i];
	s.middle = middle_of(sorted, n);
	if (left > 1)
		half = student_t(0.05, (double)left - 1) * sqrt(variance_of(scratch, n, mean_of(scratch, n)) / (double)n) * (double)n / (double)left;
	s.low = s.middle - half;
	s.high = s.middle + half;
	s.mean = mean_of(v, n);
	s.variance = variance_of(v, n, s.mean);
	return s;
}

static int make_stat(struct bench_stat *s, const struct bench_plan *p, const struct bench_series *series, const uint32_t *pairs, uint64_t ops,
		     struct tare_error *err)
{
	double *base = calloc(3 * (size_t)p->baselines + p->runs, sizeof(*base)), *base_sorted = base + p->baselines, *scratch = base_sorted + p->baselines;
	struct interval b, r;
	uint64_t all_pairs = 0;
	double k;

	s->run = calloc(2 * (size_t)p->runs, sizeof(*s->run));
	if (!base || !s->run) {
		free(base);
		return tare_fail_nomem(err);
	}
	s->sorted = s->run + p->runs;
	s->n = p->runs;
	for (uint32_t i = 0; i < p->baselines; i++)
		base[i] = (double)series->base[i];
	b = interval_of(base, base_sorted, scratch, p->baselines);
	for (uint32_t i = 0; i < p->runs; i++) {
		double per = ops ? (double)ops : pairs[i];

		s->run[i] = ((double)series->value[i] - pairs[i] * b.middle) / per;
		all_pairs += pairs[i];
	}
	r = interval_of(s->run, s->sorted, scratch, s->n);
	s->pairs_per_op = ops ? (double)all_pairs / ((double)ops * p->runs) : 1;
	k = s->pairs_per_op;
	s->value = r.middle;
	s->low = r.middle - hypot(r.middle - r.low, k * (b.high - b.middle));
	s->high = r.middle + hypot(r.high - r.middle, k * (b.middle - b.low));
	s->min = s->sorted[0];
	s->max = s->sorted[s->n - 1];
	s->mean = r.mean - k * (b.mean - b.middle);
	s->error = sqrt(r.variance / (double)s->n + k * k * b.variance / p->baselines);
	s->base = b.middle;
	s->base_low = b.low;
	s->base_high = b.high;
	s->constant = s->min == s->max && base_sorted[0] == base_sorted[p->baselines - 1];
	s->outliers = outliers_of(s->sorted, s->n, scratch);
	s->low = s->low == 0 ? 0 : s->low; /* not -0 */
	s->high = s->high == 0 ? 0 : s->high;
	free(base);
	return 0;
}

/*
 * The runs are cut into blocks along time, and the middles of the blocks are compared by Student's test: a run that an interrupt
 * made long is no argument then, and a drift, which the blocks of both follow alike, makes the test more careful, not less. The
 * baselines' own uncertainty is added: each variant has a baseline of its own.
 */
static int make_verdict(struct bench_verdict *v, const struct bench_stat *a, const struct bench_stat *b, struct tare_error *err)
{
	size_t blocks = a->n / LEAST_PER_BLOCK < BLOCKS ? a->n / LEAST_PER_BLOCK : BLOCKS;
	double *middles = calloc(2 * BLOCKS, sizeof(*middles)), *sorted = calloc(a->n, sizeof(*sorted));
	struct student_groups g;
	double bases, wide;
	int ret = 0;

	if (!middles || !sorted)
		ret = tare_fail_nomem(err);
	v->blocks = blocks;
	for (size_t side = 0; ret == 0 && side < 2; side++)
		for (size_t i = 0; i < blocks; i++) {
			size_t from = i * a->n / blocks, to = (i + 1) * a->n / blocks;

			memcpy(sorted, (side ? b : a)->run + from, (to - from) * sizeof(*sorted));
			qsort(sorted, to - from, sizeof(*sorted), by_value);
			middles[side * BLOCKS + i] = middle_of(sorted, to - from);
		}
	if (ret == 0 && blocks >= 2) {
		g = student_compare(middles, blocks, middles + BLOCKS, blocks);
		bases = hypot(a->pairs_per_op * (a->base_high - a->base_low) / 2, b->pairs_per_op * (b->base_high - b->base_low) / 2);
		wide = hypot(g.half, bases);
		v->change = b->value - a->value;
		v->half = wide;
		v->p = g.p;
		/* What the baselines leave open can make all of the change. */
		if (bases > 0 && v->p < 1 && g.half > 0)
			v->p = student_p(v->change / wide * student_t(BENCH_P, 2 * (double)blocks - 2), 2 * (double)blocks - 2);
		else if (bases > 0 && fabs(v->change) <= wide)
			v->p = 1;
		v->tested = g.tested;
		v->percent = v->change == 0 ? 0 : a->value == 0 ? copysign(INFINITY, v->change) : 100 * v->change / fabs(a->value);
		v->beyond = v->tested && v->change != 0 && v->p <= BENCH_P;
	}
	free(middles);
	free(sorted);
	return ret;
}

int bench_stats(struct bench_stats *out, const struct bench_plan *plan, const struct bench_result *r, struct tare_error *err)
{
	int ret = 0;

	*out = (struct bench_stats){ .n_variants = plan->n_variants, .n_counters = r->n_counters };
	out->stat = calloc(plan->n_variants * r->n_counters + 1, sizeof(*out->stat));
	out->verdict = calloc(plan->n_variants * r->n_counters + 1, sizeof(*out->verdict));
	if (!out->stat || !out->verdict)
		return tare_fail_nomem(err);
	for (size_t v = 0; v < plan->n_variants; v++)
		for (size_t c = 0; ret == 0 && c < r->n_counters; c++) {
			size_t at = v * r->n_counters + c;

			if (r->counter[c].quality == TARE_UNAVAILABLE)
				continue;
			ret = make_stat(&out->stat[at], plan, &r->series[at], r->pairs + v * plan->runs, r->ops[v], err);
			if (ret == 0 && v)
				ret = make_verdict(&out->verdict[at], &out->stat[c], &out->stat[at], err);
		}
	return ret;
}

void bench_stats_free(struct bench_stats *s)
{
	for (size_t i = 0; s->stat && i < s->n_variants * s->n_counters; i++)
		free(s->stat[i].run);
	free(s->stat);
	free(s->verdict);
	*s = (struct bench_stats){ 0 };
}
