/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "analyze/bench.h"
#include "tap.h"

enum { RUNS = 40, BASES = 9 };

static int64_t value[2][RUNS], base[2][BASES];
static uint32_t pairs[2 * RUNS];
static struct bench_series series[2];
static struct bench_plan plan;
static struct bench_result result;
static struct bench_stats stats;
static const struct bench_variant variants[2] = { { .name = "a" }, { .name = "b" } };

static void make(size_t n, uint64_t ops, uint32_t each)
{
	plan = (struct bench_plan){ .variant = variants, .n_variants = n, .runs = RUNS, .baselines = BASES };
	result = (struct bench_result){ .n_counters = 1, .series = series, .pairs = pairs, .ops = { ops, ops } };
	result.counter[0].quality = TARE_COUNTED;
	for (size_t v = 0; v < 2; v++)
		series[v] = (struct bench_series){ base[v], value[v] };
	for (size_t i = 0; i < 2 * RUNS; i++)
		pairs[i] = each;
}

static void work_out(void)
{
	struct tare_error err = TARE_ERROR_INIT;

	CHECK_EQ(bench_stats(&stats, &plan, &result, &err), 0, "%s", err.what);
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9 * fmax(1, fabs(b));
}

TEST(bench_what_never_varies)
{
	const struct bench_stat *s;

	make(1, 50, 2);
	for (int i = 0; i < RUNS; i++)
		value[0][i] = 2 * 25 + 150;
	for (int i = 0; i < BASES; i++)
		base[0][i] = 25;
	work_out();
	s = bench_stat_of(&stats, 0, 0);
	CHECK(s->value == 3 && s->low == 3 && s->high == 3 && s->min == 3 && s->max == 3 && s->mean == 3, "%g", s->value);
	CHECK(s->constant && s->error == 0 && s->outliers == 0, "constant");
	CHECK(s->base == 25 && s->pairs_per_op == 2.0 / 50, "baseline");
	bench_stats_free(&stats);
	/* Without ops, an operation is a pair. */
	make(1, 0, 2);
	work_out();
	CHECK(bench_stat_of(&stats, 0, 0)->value == 75, "%g", bench_stat_of(&stats, 0, 0)->value);
	bench_stats_free(&stats);
}

/*
 * Of 100, 110 .. 180 the middle half is 120 to 160; with two at each end drawn in, 120 120 120 130 140 150 160 160 160, the variance is
 * 2600 / 8; t of 4 degrees of freedom is 2.776445.
 */
TEST(bench_carries_the_spread_of_the_baseline)
{
	double half = 2.7764451052 * sqrt(2600.0 / 8 / 9) * 9 / 5, runs = 2.0930240544 * sqrt(300 * 300 * 40.0 / 39 / 40) * 40 / 20 / 10;
	const struct bench_stat *s;

	make(1, 10, 4);
	for (int i = 0; i < RUNS; i++)
		value[0][i] = 1000;
	for (int i = 0; i < BASES; i++)
		base[0][i] = 100 + 10 * (i * 4 % 9);
	work_out();
	s = bench_stat_of(&stats, 0, 0);
	CHECK(near(s->value, (1000 - 4 * 140) / 10.0), "%g", s->value);
	CHECK(near(s->base, 140) && fabs(s->base_high - 140 - half) < 1e-6 && fabs(140 - half - s->base_low) < 1e-6, "%.9g to %.9g", s->base_low, s->base_high);
	CHECK(fabs(s->value - 0.4 * half - s->low) < 1e-6 && fabs(s->value + 0.4 * half - s->high) < 1e-6, "%g to %g", s->low, s->high);
	/* The variance of all is 750. */
	CHECK(near(s->error, sqrt(0.16 * 750 / 9)), "%g", s->error);
	CHECK(near(s->mean, 44), "%g", s->mean);
	CHECK(!s->constant, "the baseline varies");
	bench_stats_free(&stats);
	/* Both spreads, as the sides of a right angle. */
	for (int i = 0; i < RUNS; i++)
		value[0][i] = i % 2 ? 1300 : 700;
	work_out();
	s = bench_stat_of(&stats, 0, 0);
	CHECK(near(s->value, 44) && fabs(s->high - 44 - hypot(runs, 0.4 * half)) < 1e-6 && fabs(44 - hypot(runs, 0.4 * half) - s->low) < 1e-6,
	      "%.9g to %.9g, not within %.9g", s->low, s->high, hypot(runs, 0.4 * half));
	bench_stats_free(&stats);
}

/* A clock that steps by 26: 14 ticks more than the baseline are 0 or 26, and neither is the answer. */
TEST(bench_averages_a_coarse_clock)
{
	const struct bench_stat *s;

	make(1, 1, 1);
	for (int i = 0; i < RUNS; i++)
		value[0][i] = i % 2 ? 52 : 78;
	value[0][3] = 1000000;
	for (int i = 0; i < BASES; i++)
		base[0][i] = 52;
	work_out();
	s = bench_stat_of(&stats, 0, 0);
	CHECK(s->value > 12 && s->value < 15 && s->low < 13 && s->high > 13 && s->low > 0 && s->high < 26, "%g, %g to %g", s->value, s->low, s->high);
	bench_stats_free(&stats);
}

TEST(bench_below_0_stays)
{
	make(1, 1, 1);
	for (int i = 0; i < RUNS; i++)
		value[0][i] = 20;
	for (int i = 0; i < BASES; i++)
		base[0][i] = 25;
	work_out();
	CHECK(bench_stat_of(&stats, 0, 0)->value == -5 && bench_stat_of(&stats, 0, 0)->high == -5, "%g", bench_stat_of(&stats, 0, 0)->value);
	bench_stats_free(&stats);
}

/* The mean of all, less the mean of the baselines, whose middle lies elsewhere. */
TEST(bench_mean)
{
	make(1, 1, 1);
	for (int i = 0; i < RUNS; i++)
		value[0][i] = 100;
	for (int i = 0; i < BASES; i++)
		base[0][i] = i ? 10 : 100;
	work_out();
	CHECK(near(bench_stat_of(&stats, 0, 0)->value, 90) && near(bench_stat_of(&stats, 0, 0)->mean, 80), "%g, %g", bench_stat_of(&stats, 0, 0)->value,
	      bench_stat_of(&stats, 0, 0)->mean);
	bench_stats_free(&stats);
	plan.runs = 4; /* too few to call one an outlier */
	value[0][3] = 1000000;
	work_out();
	CHECK_EQ(bench_stat_of(&stats, 0, 0)->outliers, 0);
	bench_stats_free(&stats);
}

TEST(bench_outliers)
{
	make(1, 1, 1);
	for (int i = 0; i < RUNS; i++)
		value[0][i] = 1000 + i % 5;
	value[0][7] = 5000;
	value[0][23] = 9000;
	for (int i = 0; i < BASES; i++)
		base[0][i] = 0;
	work_out();
	CHECK_EQ(bench_stat_of(&stats, 0, 0)->outliers, 2);
	CHECK(near(bench_stat_of(&stats, 0, 0)->value, 1002.05), "%.9g: the middle half does not see them", bench_stat_of(&stats, 0, 0)->value);
	bench_stats_free(&stats);
}

TEST(bench_verdicts)
{
	const struct bench_verdict *v;

	make(2, 1, 1);
	memset(base, 0, sizeof(base));
	for (int i = 0; i < RUNS; i++) {
		value[0][i] = 1000 + i * 7 % 10;
		value[1][i] = 900 + i * 3 % 10;
	}
	value[1][5] = 100000; /* an interrupt */
	work_out();
	v = bench_verdict_of(&stats, 1, 0);
	CHECK(v->tested && v->beyond && near(v->change, -99.9) && v->p < 0.0001, "change %g, p %g", v->change, v->p);
	CHECK_EQ(v->blocks, 8);
	CHECK(v->half > 0 && v->half < 10 && fabs(v->percent + 10) < 0.1, "half %g, %g %%", v->half, v->percent);
	bench_stats_free(&stats);
	/* The same difference, but the baselines leave it open. */
	for (int i = 0; i < BASES; i++)
		base[1][i] = (i - 4) * 100;
	work_out();
	v = bench_verdict_of(&stats, 1, 0);
	CHECK(v->tested && !v->beyond && v->half > 100 && v->p > 0.05, "half %g, p %g", v->half, v->p);
	bench_stats_free(&stats);
	/* Constant on both sides: any difference is one, in the baselines' bounds. */
	memset(base, 0, sizeof(base));
	for (int i = 0; i < RUNS; i++) {
		value[0][i] = 10;
		value[1][i] = 11;
	}
	work_out();
	v = bench_verdict_of(&stats, 1, 0);
	CHECK(v->beyond && v->change == 1 && v->half == 0 && v->p == 0, "p %g", v->p);
	bench_stats_free(&stats);
	/* A drift that both follow is no difference. */
	for (int i = 0; i < RUNS; i++)
		value[0][i] = value[1][i] = 1000 + 20 * i;
	work_out();
	v = bench_verdict_of(&stats, 1, 0);
	CHECK(!v->beyond && v->change == 0, "change %g", v->change);
	bench_stats_free(&stats);
	plan.runs = 9;
	work_out();
	CHECK(!bench_verdict_of(&stats, 1, 0)->tested, "too few");
	bench_stats_free(&stats);
	plan.runs = 10; /* two stretches of five, constant: any difference is one */
	value[1][0] = value[1][1] = value[1][2] = value[1][3] = 1;
	work_out();
	v = bench_verdict_of(&stats, 1, 0);
	CHECK(v->tested && v->blocks == 2, "enough");
	bench_stats_free(&stats);
}

TEST_MAIN()
