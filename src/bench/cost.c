/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "bench/cost.h"
#include "statistics/student_t.h"
#include "statistics/median.h"

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

static double variance_of(const double *v, size_t n, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return sum / (double)(n - 1);
}

static double mean_of(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i] - v[0]; /* the mean of equal numbers is exactly that number */
	return v[0] + sum / (double)n;
}

/* Source: as spread_of(). */
static size_t outliers_of(const double *sorted, size_t n, double *distance)
{
	double median = median_of_real(sorted, n), mad, mean, limit;
	size_t far = 0;

	if (n < 5)
		return 0;
	for (size_t i = 0; i < n; i++)
		distance[i] = fabs(sorted[i] - median);
	mean = mean_of(distance, n);
	qsort(distance, n, sizeof(*distance), by_value);
	mad = median_of_real(distance, n);
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

/*
 * NAN if there are too few. Source: Tukey and McLaughlin, "Less Vulnerable Confidence and
 * Significance Procedures for Location", Sankhya A 25, 1963.
 */
static struct interval interval_of(const double *v, double *sorted, double *scratch, size_t n)
{
	size_t cut = n / 4, left = n - 2 * cut;
	struct interval s = { 0 };
	double half = NAN;

	memcpy(sorted, v, n * sizeof(*v));
	qsort(sorted, n, sizeof(*sorted), by_value);
	for (size_t i = 0; i < n; i++)
		scratch[i] = sorted[i < cut ? cut : i >= n - cut ? n - cut - 1 : i];
	s.middle = middle_of(sorted, n);
	if (n >= BENCH_LEAST)
		half = student_t(0.05, (double)left - 1) *
			sqrt(variance_of(scratch, n, mean_of(scratch, n)) / (double)n) * (double)n /
			(double)left;
	s.low = s.middle - half;
	s.high = s.middle + half;
	s.mean = mean_of(v, n);
	s.variance = n > 1 ? variance_of(v, n, s.mean) : NAN;
	return s;
}

/*
 * The step of a counter: virtual machines and some processors advance the clock by more than 1; all
 * others count one by one.
 */
static double step_of(const struct bench_result *r, size_t counter)
{
	double step = fmax(1, r->clock_step);

	if (r->counter[counter].quality == TARE_EXACT)
		return 0;
	if (r->counter[counter].how == BENCH_CHAIN) /* in cycles, which are whole numbers */
		return fmax(1, step * r->chain_adds / r->chain_ticks);
	return r->counter[counter].how == BENCH_CLOCK ? step : 1;
}

static bool by_clock(const struct bench_counter *c)
{
	return c->how == BENCH_CLOCK || c->how == BENCH_CHAIN;
}

/* Of one run: for the clock it may have several rounds. */
static uint64_t ops_of(const struct bench_result *r, size_t v, size_t counter)
{
	uint32_t rounds = by_clock(&r->counter[counter]) && r->rounds[v] ? r->rounds[v] : 1;

	return r->ops[v] * rounds;
}

double bench_ticks(const struct bench_stats *s, const struct bench_result *r, size_t v,
		   size_t counter)
{
	const struct bench_stat *st = bench_stat_of(s, v, counter);
	uint64_t ops = ops_of(r, v, counter);

	return st->value * (ops ? (double)ops : 1 / st->pairs_per_op);
}

const char *bench_quality(const struct bench_counter *c)
{
	if (c->how == BENCH_CHAIN && c->quality != TARE_UNAVAILABLE)
		return "estimated";
	return tare_quality_name(c->quality);
}

/* An interval is at least as wide as the counter's resolution, even if readings agree. */
static double at_least(double half, double open)
{
	return half < open ? open : half;
}

static int make_stat(struct bench_stat *s, const struct bench_plan *p,
		     const struct bench_result *result, size_t v, size_t counter, double step,
		     struct tare_error *err)
{
	const struct bench_series *series = &result->series[v * result->n_counters + counter];
	const uint32_t *pairs = result->pairs + v * p->runs;
	uint64_t ops = ops_of(result, v, counter);
	double *base = calloc(3 * (size_t)p->baselines + p->runs, sizeof(*base)),
	       *base_sorted = base + p->baselines, *scratch = base_sorted + p->baselines;
	struct interval b, r;
	uint64_t all_pairs = 0;
	double k, per_run, half, b_half, open;

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
	s->constant = s->sorted[0] == s->sorted[s->n - 1] &&
		base_sorted[0] == base_sorted[p->baselines - 1] &&
		!by_clock(&result->counter[counter]);
	if (s->constant && step == 0)
		r.low = r.high = r.middle, b.low = b.high = b.middle;
	if (s->constant)
		step = 0;
	per_run = ops ? (double)ops : (double)all_pairs / p->runs;
	/*
	 * A clock's reading is off by up to one step in both directions, depending on where in a
	 * step the code starts; and that may be the same position each time.
	 */
	open = by_clock(&result->counter[counter]) ? step : step / 2;
	s->unsure = open / per_run;
	/* the chain's ticks have a step, too, and the chain affects the code in different ways */
	if (result->counter[counter].how == BENCH_CHAIN)
		s->unsure = hypot(s->unsure,
				  r.middle *
					  fmax(fmax(1, result->clock_step), result->chain_spread) /
					  result->chain_ticks);
	s->value = r.middle;
	b_half = at_least(b.high - b.middle, open);
	half = hypot(at_least(r.high - r.middle, s->unsure), k * b_half);
	if (result->counter[counter].how == BENCH_CHAIN)
		half += BENCH_CHAIN_BIAS * fabs(r.middle);
	s->low = r.middle - half;
	s->high = r.middle + half;
	/*
	 * The marks may overlap with the end of the code: then up to the whole baseline is
	 * subtracted too much.
	 */
	if (result->counter[counter].how == BENCH_CHAIN)
		s->high += k * fmax(0, b.middle);
	s->min = s->sorted[0];
	s->max = s->sorted[s->n - 1];
	s->mean = r.mean - k * (b.mean - b.middle);
	s->error = sqrt(r.variance / (double)s->n + k * k * b.variance / p->baselines);
	s->base = b.middle;
	s->base_low = b.middle - b_half;
	s->base_high = b.middle + b_half;
	s->outliers = outliers_of(s->sorted, s->n, scratch);
	s->low = s->low == 0 ? 0 : s->low; /* not -0 */
	s->high = s->high == 0 ? 0 : s->high;
	free(base);
	return 0;
}

/*
 * The runs are divided by time into blocks, and the middles of the blocks are compared by Student's
 * test. So a run that an interrupt delayed has no effect, and a drift, which affects the blocks of
 * both variants equally, makes the test more conservative. The baselines' uncertainty is added, as
 * each variant has its own baseline.
 */
static int make_verdict(struct bench_verdict *v, const struct bench_stat *a,
			const struct bench_stat *b, struct tare_error *err)
{
	size_t blocks = a->n / BENCH_STRETCH_LEAST < BENCH_STRETCHES ? a->n / BENCH_STRETCH_LEAST
								     : BENCH_STRETCHES;
	double *middles = calloc(2 * BENCH_STRETCHES, sizeof(*middles)),
	       *sorted = calloc(a->n, sizeof(*sorted));
	struct student_groups g;
	double bases;
	int ret = 0;

	if (!middles || !sorted)
		ret = tare_fail_nomem(err);
	*v = (struct bench_verdict){
		.change = b->value - a->value, .half = NAN, .p = NAN, .blocks = blocks
	};
	v->percent = v->change == 0 ? 0
		: a->value == 0     ? copysign(INFINITY, v->change)
				    : 100 * v->change / fabs(a->value);
	if (a->low != a->high && a->low <= 0 && a->high >= 0)
		v->percent = copysign(INFINITY, v->change); /* relative to a value that may be 0 */
	for (size_t side = 0; ret == 0 && side < 2; side++)
		for (size_t i = 0; i < blocks; i++) {
			size_t from = i * a->n / blocks, to = (i + 1) * a->n / blocks;

			memcpy(sorted, (side ? b : a)->run + from, (to - from) * sizeof(*sorted));
			qsort(sorted, to - from, sizeof(*sorted), by_value);
			middles[side * BENCH_STRETCHES + i] = middle_of(sorted, to - from);
		}
	if (ret == 0 && blocks >= 2) {
		double df = 2 * (double)blocks - 2;

		g = student_compare(middles, blocks, middles + BENCH_STRETCHES, blocks);
		bases = hypot(a->pairs_per_op * (a->base_high - a->base_low) / 2,
			      b->pairs_per_op * (b->base_high - b->base_low) / 2);
		v->half = hypot(at_least(g.half, hypot(a->unsure, b->unsure)), bases);
		/*
		 * For the displayed change; if blocks agree, the resolution and the baselines
		 * decide.
		 */
		v->p = v->half > 0 ? student_p(v->change / v->half * student_t(BENCH_P, df), df)
				   : v->change == 0;
		v->tested = !isnan(v->half);
		v->beyond = v->tested && v->change != 0 && v->p <= BENCH_P;
	}
	free(middles);
	free(sorted);
	return ret;
}

size_t bench_by_perf(const struct bench_result *r, size_t counter)
{
	size_t n = strlen(r->counter[counter].name);

	for (size_t c = 0; c < r->n_counters && r->counter[counter].how == BENCH_MSR; c++)
		if (r->counter[c].how != BENCH_MSR && r->counter[c].quality != TARE_UNAVAILABLE &&
		    !strncmp(r->counter[c].name, r->counter[counter].name, n) &&
		    !strcmp(r->counter[c].name + n, BENCH_BY_PERF))
			return c;
	return SIZE_MAX;
}

/* With many events one may differ by chance: corrects for the number of tests. */
static int cross(struct bench_stats *out, const struct bench_result *r, struct tare_error *err)
{
	size_t n = out->n_variants * out->n_counters, k = 0;
	double *p = calloc(n + 1, sizeof(*p));
	int ret = p ? 0 : tare_fail_nomem(err);

	for (size_t i = 0; ret == 0 && i < n; i++) {
		size_t perf = bench_by_perf(r, i % out->n_counters);

		if (perf == SIZE_MAX || !out->stat[i].n)
			continue;
		ret = make_verdict(&out->cross[i], &out->stat[i],
				   &out->stat[i - i % out->n_counters + perf], err);
		if (out->cross[i].tested)
			p[k++] = out->cross[i].p;
	}
	if (ret == 0 && !student_adjust(p, k))
		ret = tare_fail_nomem(err);
	k = 0;
	for (size_t i = 0; ret == 0 && i < n; i++)
		if (out->cross[i].tested) {
			out->cross[i].p = p[k++];
			out->cross[i].beyond = out->cross[i].change != 0 &&
				out->cross[i].p <= BENCH_P;
		}
	free(p);
	return ret;
}

int bench_stats(struct bench_stats *out, const struct bench_plan *plan,
		const struct bench_result *r, struct tare_error *err)
{
	int ret = 0;

	*out = (struct bench_stats){ .n_variants = plan->n_variants, .n_counters = r->n_counters };
	out->stat = calloc(plan->n_variants * r->n_counters + 1, sizeof(*out->stat));
	out->verdict = calloc(plan->n_variants * r->n_counters + 1, sizeof(*out->verdict));
	out->cross = calloc(plan->n_variants * r->n_counters + 1, sizeof(*out->cross));
	if (!out->stat || !out->verdict || !out->cross)
		return tare_fail_nomem(err);
	for (size_t c = 0; c < r->n_counters; c++)
		if (r->counter[c].quality != TARE_UNAVAILABLE)
			out->step[c] = step_of(r, c);
	for (size_t v = 0; v < plan->n_variants; v++)
		for (size_t c = 0; ret == 0 && c < r->n_counters; c++) {
			size_t at = v * r->n_counters + c;

			if (r->counter[c].quality == TARE_UNAVAILABLE)
				continue;
			ret = make_stat(&out->stat[at], plan, r, v, c, out->step[c], err);
			if (ret == 0 && v)
				ret = make_verdict(&out->verdict[at], &out->stat[c], &out->stat[at],
						   err);
		}
	return ret == 0 && plan->cross ? cross(out, r, err) : ret;
}

void bench_stats_free(struct bench_stats *s)
{
	for (size_t i = 0; s->stat && i < s->n_variants * s->n_counters; i++)
		free(s->stat[i].run);
	free(s->stat);
	free(s->verdict);
	free(s->cross);
	*s = (struct bench_stats){ 0 };
}
