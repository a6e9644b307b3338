/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "bench/cost.h"
#include "statistics/student_t.h"
#include "bench/bench_chain.h"
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
	plan = (struct bench_plan){
		.variant = variants, .n_variants = n, .runs = RUNS, .baselines = BASES
	};
	result = (struct bench_result){
		.n_counters = 1, .series = series, .pairs = pairs, .ops = { ops, ops }
	};
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
	CHECK(s->value == 3 && s->low == 3 && s->high == 3 && s->min == 3 && s->max == 3 &&
		      s->mean == 3,
	      "%g", s->value);
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
 * Of 100, 110 .. 180 the middle half is 120 to 160; winsorized by two at each end, 120 120 120 130
 * 140 150 160 160 160, the variance is 2600 / 8; t with 4 degrees of freedom is 2.776445.
 */
TEST(bench_carries_the_spread_of_the_baseline)
{
	double half = 2.7764451052 * sqrt(2600.0 / 8 / 9) * 9 / 5,
	       runs = 2.0930240544 * sqrt(300 * 300 * 40.0 / 39 / 40) * 40 / 20 / 10;
	/* runs that agree: within half a count of each */
	double both = hypot(0.5 / 10, 0.4 * half);
	const struct bench_stat *s;

	make(1, 10, 4);
	for (int i = 0; i < RUNS; i++)
		value[0][i] = 1000;
	for (int i = 0; i < BASES; i++)
		base[0][i] = 100 + 10 * (i * 4 % 9);
	work_out();
	s = bench_stat_of(&stats, 0, 0);
	CHECK(near(s->value, (1000 - 4 * 140) / 10.0), "%g", s->value);
	CHECK(near(s->base, 140) && fabs(s->base_high - 140 - half) < 1e-6 &&
		      fabs(140 - half - s->base_low) < 1e-6,
	      "%.9g to %.9g", s->base_low, s->base_high);
	CHECK(fabs(s->value - both - s->low) < 1e-6 && fabs(s->value + both - s->high) < 1e-6,
	      "%g to %g", s->low, s->high);
	/* The variance of all is 750. */
	CHECK(near(s->error, sqrt(0.16 * 750 / 9)), "%g", s->error);
	CHECK(near(s->mean, 44), "%g", s->mean);
	CHECK(!s->constant, "the baseline varies");
	bench_stats_free(&stats);
	/* Both spreads, added in quadrature. */
	for (int i = 0; i < RUNS; i++)
		value[0][i] = i % 2 ? 1300 : 700;
	work_out();
	s = bench_stat_of(&stats, 0, 0);
	CHECK(near(s->value, 44) && fabs(s->high - 44 - hypot(runs, 0.4 * half)) < 1e-6 &&
		      fabs(44 - hypot(runs, 0.4 * half) - s->low) < 1e-6,
	      "%.9g to %.9g, not within %.9g", s->low, s->high, hypot(runs, 0.4 * half));
	bench_stats_free(&stats);
}

/*
 * A clock with a step of 26: 14 ticks more than the baseline read as 0 or 26, and neither is right.
 */
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
	CHECK(s->value > 12 && s->value < 15 && s->low < 13 && s->high > 13 && s->low > 0 &&
		      s->high < 26,
	      "%g, %g to %g", s->value, s->low, s->high);
	bench_stats_free(&stats);
}

/* Even if all readings are equal, the result is not more precise than a step of the clock. */
TEST(bench_is_never_surer_than_a_step)
{
	double half = hypot(26.0 / 10, 26.0 * 2 / 10);
	const struct bench_stat *s;

	make(1, 10, 2);
	result.counter[0].how = BENCH_CLOCK;
	result.clock_step = 26;
	for (int i = 0; i < RUNS; i++)
		value[0][i] = 260;
	value[0][9] = 26;
	for (int i = 0; i < BASES; i++)
		base[0][i] = 52;
	work_out();
	s = bench_stat_of(&stats, 0, 0);
	CHECK(stats.step[0] == 26, "%g", stats.step[0]);
	CHECK(near(s->value, 15.6) && near(s->high - s->value, half) &&
		      near(s->value - s->low, half),
	      "%g, %g to %g", s->value, s->low, s->high);
	CHECK(near(s->base_high, 78) && near(s->base_low, 26), "baseline %g to %g", s->base_low,
	      s->base_high);
	bench_stats_free(&stats);
	/* All equal: the clock may not have advanced. */
	value[0][9] = 260;
	work_out();
	s = bench_stat_of(&stats, 0, 0);
	CHECK(!s->constant && s->low < s->value && s->value < s->high, "%g to %g", s->low, s->high);
	bench_stats_free(&stats);
	/* Counters that count one by one are precise to half a count. */
	result.counter[0].how = BENCH_REGISTER;
	value[0][9] = 26;
	work_out();
	CHECK(near(bench_stat_of(&stats, 0, 0)->high - 15.6, hypot(0.5 / 10, 0.5 * 2 / 10)), "%g",
	      bench_stat_of(&stats, 0, 0)->high);
	bench_stats_free(&stats);
}

TEST(bench_of_few_runs_is_not_sure)
{
	const struct bench_stat *s;

	make(1, 1, 1);
	for (int i = 0; i < RUNS; i++)
		value[0][i] = 100 + i;
	for (int i = 0; i < BASES; i++)
		base[0][i] = 25 + i % 2;
	for (plan.runs = 1; plan.runs <= 6; plan.runs++) {
		work_out();
		s = bench_stat_of(&stats, 0, 0);
		CHECK(isnan(s->low) == (plan.runs < 6) && isnan(s->high) == (plan.runs < 6),
		      "%u runs: %g to %g", plan.runs, s->low, s->high);
		CHECK(isnan(s->error) == (plan.runs < 2), "%u runs: error %g", plan.runs, s->error);
		bench_stats_free(&stats);
	}
	plan.runs = RUNS;
	plan.baselines = 5;
	work_out();
	s = bench_stat_of(&stats, 0, 0);
	CHECK(isnan(s->low) && isnan(s->high) && isnan(s->base_low) && isnan(s->base_high),
	      "five baselines: %g to %g", s->low, s->high);
	bench_stats_free(&stats);
	/* Equal exact counts have no uncertainty. */
	make(1, 1, 1);
	memset(base, 0, sizeof(base));
	result.counter[0].quality = TARE_EXACT;
	plan.runs = 1;
	work_out();
	s = bench_stat_of(&stats, 0, 0);
	CHECK(s->low == 100 && s->high == 100 && s->constant, "%g to %g", s->low, s->high);
	bench_stats_free(&stats);
	plan.runs = 2;
	work_out();
	CHECK(isnan(bench_stat_of(&stats, 0, 0)->low), "exact, but different");
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
	CHECK(bench_stat_of(&stats, 0, 0)->value == -5 && bench_stat_of(&stats, 0, 0)->high == -5,
	      "%g", bench_stat_of(&stats, 0, 0)->value);
	bench_stats_free(&stats);
}

/* The mean of all runs minus the mean of the baselines, which have a different middle. */
TEST(bench_mean)
{
	make(1, 1, 1);
	for (int i = 0; i < RUNS; i++)
		value[0][i] = 100;
	for (int i = 0; i < BASES; i++)
		base[0][i] = i ? 10 : 100;
	work_out();
	CHECK(near(bench_stat_of(&stats, 0, 0)->value, 90) &&
		      near(bench_stat_of(&stats, 0, 0)->mean, 80),
	      "%g, %g", bench_stat_of(&stats, 0, 0)->value, bench_stat_of(&stats, 0, 0)->mean);
	bench_stats_free(&stats);
	/* 0, not -0. */
	for (int i = 0; i < RUNS; i++)
		value[0][i] = 10;
	for (int i = 0; i < BASES; i++)
		base[0][i] = 10;
	work_out();
	CHECK(bench_stat_of(&stats, 0, 0)->low == 0 && !signbit(bench_stat_of(&stats, 0, 0)->low) &&
		      bench_stat_of(&stats, 0, 0)->high == 0,
	      "0 to 0");
	bench_stats_free(&stats);
	plan.runs = 4; /* too few to detect an outlier */
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
	CHECK(bench_stat_of(&stats, 0, 0)->max == 9000 && bench_stat_of(&stats, 0, 0)->min == 1000,
	      "all runs");
	CHECK(near(bench_stat_of(&stats, 0, 0)->value, 1002.05),
	      "%.9g: the middle half does not see them", bench_stat_of(&stats, 0, 0)->value);
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
	CHECK(v->tested && v->beyond && near(v->change, -99.9) && v->p < 0.0001, "change %g, p %g",
	      v->change, v->p);
	CHECK_EQ(v->blocks, 8);
	CHECK(v->half > 0 && v->half < 10 && fabs(v->percent + 10) < 0.1, "half %g, %g %%", v->half,
	      v->percent);
	bench_stats_free(&stats);
	/* The same difference, but the baselines make it uncertain. */
	for (int i = 0; i < BASES; i++)
		base[1][i] = (i - 4) * 100;
	work_out();
	v = bench_verdict_of(&stats, 1, 0);
	CHECK(v->tested && !v->beyond && v->half > 100 && v->p > 0.05, "half %g, p %g", v->half,
	      v->p);
	bench_stats_free(&stats);
	/* Constant on both sides: any difference is significant, within the baselines' bounds. */
	memset(base, 0, sizeof(base));
	for (int i = 0; i < RUNS; i++) {
		value[0][i] = 10;
		value[1][i] = 11;
	}
	work_out();
	v = bench_verdict_of(&stats, 1, 0);
	CHECK(v->beyond && v->change == 1 && v->half == 0 && v->p == 0, "p %g", v->p);
	bench_stats_free(&stats);
	/* Relative to 0, any change is infinite. */
	for (int i = 0; i < RUNS; i++)
		value[0][i] = 0;
	work_out();
	CHECK(isinf(bench_verdict_of(&stats, 1, 0)->percent) &&
		      bench_verdict_of(&stats, 1, 0)->percent > 0,
	      "%g %%", bench_verdict_of(&stats, 1, 0)->percent);
	bench_stats_free(&stats);
	/* The same if the value may be 0: -1 to 1. */
	for (int i = 0; i < RUNS; i++)
		value[0][i] = i % 3 - 1;
	work_out();
	v = bench_verdict_of(&stats, 1, 0);
	CHECK(v->beyond && isinf(v->percent) && v->percent > 0, "%g %% of %g", v->percent,
	      bench_stat_of(&stats, 0, 0)->value);
	CHECK(bench_stat_of(&stats, 0, 0)->low < 0 && bench_stat_of(&stats, 0, 0)->high > 0, "low");
	bench_stats_free(&stats);
	for (int i = 0; i < RUNS; i++)
		value[0][i] = 10 + i % 3 - 1;
	work_out();
	CHECK(isfinite(bench_verdict_of(&stats, 1, 0)->percent),
	      "relative to a value other than 0");
	bench_stats_free(&stats);
	/* A drift of both variants is not a difference. */
	for (int i = 0; i < RUNS; i++)
		value[0][i] = value[1][i] = 1000 + 20 * i;
	work_out();
	v = bench_verdict_of(&stats, 1, 0);
	CHECK(!v->beyond && v->change == 0, "change %g", v->change);
	bench_stats_free(&stats);
	plan.runs = 9;
	work_out();
	v = bench_verdict_of(&stats, 1, 0);
	CHECK(!v->tested && isnan(v->half) && isnan(v->p), "too few");
	bench_stats_free(&stats);
	plan.runs = RUNS;
	plan.baselines = 5;
	work_out();
	CHECK(!bench_verdict_of(&stats, 1, 0)->tested, "too few baselines");
	bench_stats_free(&stats);
	plan.baselines = BASES;
	plan.runs = 10; /* two stretches of five, constant: any difference is significant */
	value[1][0] = value[1][1] = value[1][2] = value[1][3] = 1;
	work_out();
	v = bench_verdict_of(&stats, 1, 0);
	CHECK(v->tested && v->blocks == 2, "enough");
	bench_stats_free(&stats);
}

/* The test is for the displayed change: half of it all is 5 %. */
TEST(bench_p_is_of_the_change_shown)
{
	const struct bench_verdict *v;

	make(2, 1, 1);
	memset(base, 0, sizeof(base));
	for (int i = 0; i < RUNS; i++) {
		value[0][i] = 1000 + i * 7 % 10;
		value[1][i] = 1003 + i * 3 % 10;
	}
	work_out();
	v = bench_verdict_of(&stats, 1, 0);
	CHECK(near(v->change,
		   bench_stat_of(&stats, 1, 0)->value - bench_stat_of(&stats, 0, 0)->value),
	      "%g", v->change);
	CHECK(fabs(v->p - student_p(v->change / v->half * student_t(0.05, 14), 14)) < 1e-12 &&
		      v->beyond == (fabs(v->change) >= v->half),
	      "p %g", v->p);
	bench_stats_free(&stats);
}

/* Four counters of two variants: two events by registers, and by perf. */
TEST(bench_registers_against_perf)
{
	static int64_t run[8][RUNS], none[BASES];
	static struct bench_series all[8];
	static const char *const names[] = { "cycles", "branches", "branches by perf",
					     "cycles by perf" };
	double q[4];

	make(2, 1, 1);
	plan.cross = true;
	result.n_counters = 4;
	result.series = all;
	for (size_t c = 0; c < 4; c++) {
		result.counter[c].quality = TARE_COUNTED;
		result.counter[c].how = c < 2 ? BENCH_MSR : BENCH_REGISTER;
		snprintf(result.counter[c].name, sizeof(result.counter[c].name), "%s", names[c]);
	}
	for (size_t i = 0; i < 8; i++) {
		all[i] = (struct bench_series){ none, run[i] };
		/* for the second variant perf counts 20 cycles more, and the same branches */
		for (int k = 0; k < RUNS; k++)
			run[i][k] = i % 4 == 1 || i % 4 == 2 ? 77
							     : 1000 + k * (i % 4 ? 7 : 3) % 10 +
					(i == 7           ? 20
						 : i == 3 ? k % 2
							  : 0);
	}
	work_out();
	CHECK_EQ(bench_by_perf(&result, 0), 3);
	CHECK_EQ(bench_by_perf(&result, 1), 2);
	CHECK(bench_by_perf(&result, 2) == SIZE_MAX && bench_by_perf(&result, 3) == SIZE_MAX,
	      "perf's own");
	CHECK(stats.cross[0].tested && !stats.cross[0].beyond && stats.cross[0].half > 0,
	      "cycles agree: p %g", stats.cross[0].p);
	CHECK(stats.cross[1].tested && stats.cross[1].change == 0 && stats.cross[1].half == 0,
	      "branches are equal");
	CHECK(stats.cross[4].beyond && near(stats.cross[4].change, 20) && stats.cross[4].p < 0.001,
	      "change %g, p %g", stats.cross[4].change, stats.cross[4].p);
	for (size_t k = 0, i; k < 4; k++) { /* p is corrected for all four tests */
		i = k / 2 * 4 + k % 2;
		q[k] = stats.cross[i].half > 0
			? student_p(stats.cross[i].change / stats.cross[i].half *
					    student_t(0.05, 14),
				    14)
			: 1;
	}
	CHECK(student_adjust(q, 4) && q[0] < 1, "adjusted");
	for (size_t k = 0; k < 4; k++) {
		double p = stats.cross[k / 2 * 4 + k % 2].p;

		CHECK(fabs(p - q[k]) < 1e-12, "%zu: p %g, not %g", k, p, q[k]);
	}
	CHECK(!stats.cross[5].beyond && !stats.cross[2].tested && !stats.cross[7].tested,
	      "no other");
	bench_stats_free(&stats);
	plan.runs = 9;
	work_out();
	CHECK(!stats.cross[4].tested && !stats.cross[4].beyond, "too few runs");
	bench_stats_free(&stats);
	result.counter[3].quality = TARE_UNAVAILABLE;
	CHECK_EQ(bench_by_perf(&result, 0), SIZE_MAX, "nothing to compare with");
}

/* A clock that shows whole ticks of whole steps, with an additional error of up to `jitter`. */
struct clock {
	double step;
	unsigned jitter;
	/*
	 * 0: read at a random time; otherwise always within that many ticks of the same position in
	 * a step
	 */
	double locked;
};

static uint64_t seed;

static double chance(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / 9007199254740992.0;
}

static int64_t shows(const struct clock *c, double time)
{
	return (int64_t)floor(floor(time / c->step) * c->step) +
		(int64_t)(chance() * (2 * c->jitter + 1)) - c->jitter;
}

/* Code of `truth` ticks and slightly varying time; occasionally a run is interrupted. */
static int64_t ticks(const struct clock *c, double truth, double place)
{
	double at = 1000 * c->step +
		(c->locked > 0 ? place + c->locked * chance()
			       : floor(1000 * chance()) * c->step + c->step * chance()),
	       noise = chance();

	return shows(c, at + truth + (noise < 0.02 ? 5000 * noise * 50 : 6 * noise)) - shows(c, at);
}

struct tries {
	int differ;  /* verdicts that the second differs */
	int outside; /* intervals, one per try, that do not contain the truth */
};

/* 100 tries, with code that takes `truth` ticks, and `more`. */
static struct tries tries(const struct clock *c, uint32_t runs, double truth, double more)
{
	struct tries t = { 0 };

	for (int try = 0; try < 100; try++) {
		const struct bench_stat *s;

		make(2, 1, 1);
		plan.runs = runs;
		result.counter[0].how = BENCH_CLOCK;
		result.clock_step = c->step;
		for (int v = 0; v < 2; v++) {
			double place = c->step * chance();

			for (uint32_t i = 0; i < runs; i++)
				value[v][i] = ticks(c, 60 + truth + v * more, place);
			for (int i = 0; i < BASES; i++)
				base[v][i] = ticks(c, 60, place);
		}
		work_out();
		s = bench_stat_of(&stats, 0, 0);
		t.outside += s->low > truth || s->high < truth;
		t.differ += bench_verdict_of(&stats, 1, 0)->beyond;
		bench_stats_free(&stats);
	}
	return t;
}

/*
 * Code of 300 cycles between marks of 60, on a core that slows down to half the frequency; each run
 * is paired with a chain of 40,000 additions.
 */
TEST(bench_cycles_do_not_depend_on_the_frequency)
{
	const struct bench_stat *s;
	double ticks = 1.5, bias = 2 * 3 * BENCH_CHAIN_BIAS;

	make(1, 100, 1);
	result.counter[0].how = BENCH_CHAIN;
	result.counter[0].quality = TARE_SCALED;
	result.chain_adds = 40000;
	result.chain_ticks = 40000;
	for (int i = 0; i < RUNS; i++, ticks *= 0.98)
		value[0][i] = bench_chain_cycles((int64_t)(360 * ticks), (int64_t)(40000 * ticks),
						 40000);
	value[0][7] = bench_chain_cycles(360000, 40000, 40000); /* an interrupt hit the run */
	value[0][8] = bench_chain_cycles(360, 400000, 40000);   /* and here the chain's */
	for (int i = 0; i < BASES; i++)
		base[0][i] = bench_chain_cycles(60, 40000, 40000);
	work_out();
	s = bench_stat_of(&stats, 0, 0);
	CHECK(fabs(s->value - 3) < 0.01, "%g", s->value);
	CHECK(s->low < 3 && s->high > 3.6 && s->high - 0.6 - s->low < 0.1 + bias, "%g to %g",
	      s->low, s->high);
	CHECK(!s->constant, "it is an estimate");
	CHECK_STR(bench_quality(&result.counter[0]), "estimated", "by its own name");
	bench_stats_free(&stats);
	/* The clock's step, in cycles: of the run, of the baseline, and of the chain. */
	result.clock_step = 26;
	result.chain_ticks = 26000;
	for (int i = 0; i < RUNS; i++)
		value[0][i] = 360;
	work_out();
	s = bench_stat_of(&stats, 0, 0);
	CHECK(near(stats.step[0], 40), "%g", stats.step[0]);
	CHECK(near(s->value, 3), "%g", s->value);
	CHECK(near(3 - s->low, hypot(hypot(0.4, 3 * 0.001), 0.4) + bias / 2), "from %g", s->low);
	CHECK(near(s->high - 3, hypot(hypot(0.4, 3 * 0.001), 0.4) + 0.6 + bias / 2), "to %g",
	      s->high);
	bench_stats_free(&stats);
	/* Chains that differ by more than a step. */
	result.chain_spread = 260;
	work_out();
	s = bench_stat_of(&stats, 0, 0);
	CHECK(near(3 - s->low, hypot(hypot(0.4, 3 * 0.01), 0.4) + bias / 2), "from %g", s->low);
	bench_stats_free(&stats);
	result.chain_spread = 0;
	result.counter[0].quality = TARE_UNAVAILABLE;
	CHECK_STR(bench_quality(&result.counter[0]), "unavailable", "no number");
}

/*
 * For code as long as a few steps, or shorter than one, read at random positions in a step or
 * always at the same.
 */
TEST(bench_verdicts_are_seldom_wrong)
{
	static const struct {
		int line;
		struct clock c;
	} rows[] = {
		{ __LINE__, { 1, 0, 0 } },     { __LINE__, { 26, 0, 0 } },
		{ __LINE__, { 24.46, 0, 0 } }, { __LINE__, { 33.33, 1, 0 } },
		{ __LINE__, { 26, 0, 0.01 } }, { __LINE__, { 24.46, 0, 0.01 } },
		{ __LINE__, { 24.46, 0, 3 } }, { __LINE__, { 33.33, 1, 1 } },
	};

	for (unsigned k = 0; k < ARRAY_SIZE(rows); k++) {
		struct tries few, more;
		int right;

		if (!tap_tried(k))
			continue;
		seed = 88172645463325252u + k;
		few = tries(&rows[k].c, 10, 12, 0);
		more = tries(&rows[k].c, 40, 40, 0);
		right = tries(&rows[k].c, 40, 40, 275).differ;
		CHECK_EQ(tries(&rows[k].c, 6, 40, 1000).differ, 0, "row at line %d: too few runs",
			 rows[k].line);
		CHECK(few.differ <= 5, "row at line %d, 10 runs: of 100 equal pairs, %d differ",
		      rows[k].line, few.differ);
		CHECK(more.differ <= 5, "row at line %d, 40 runs: of 100 equal pairs, %d differ",
		      rows[k].line, more.differ);
		CHECK(more.outside <= 10,
		      "row at line %d: %d of 100 intervals do not contain the truth", rows[k].line,
		      more.outside);
		CHECK(right >= 75, "row at line %d: of 100 times 275 ticks more, %d are found",
		      rows[k].line, right);
	}
}

/*
 * 300 cycles between marks of 60, which overlap, from not at all to completely, with the code's
 * last instructions: 3 is within the interval, and the more rounds a run has, the closer it is.
 */
TEST(bench_marks_that_the_code_hides)
{
	const struct bench_stat *s;

	for (int hidden = 0; hidden <= 60; hidden += 20)
		for (uint32_t rounds = 1; rounds <= 100; rounds *= 10) {
			make(1, 100, 1);
			result.counter[0].how = BENCH_CHAIN;
			result.counter[0].quality = TARE_SCALED;
			result.chain_adds = 40000;
			result.chain_ticks = 40000;
			result.clock_step = 1;
			result.rounds[0] = rounds;
			for (int i = 0; i < RUNS; i++)
				value[0][i] = 300 * rounds + 60 - hidden;
			for (int i = 0; i < BASES; i++)
				base[0][i] = 60;
			work_out();
			s = bench_stat_of(&stats, 0, 0);
			CHECK(s->low <= 3 && s->high >= 3, "%d hidden in %u rounds: %g to %g",
			      hidden, rounds, s->low, s->high);
			CHECK(s->high - s->low < (0.65 + 2 * BENCH_CHAIN_BIAS) / rounds +
					      6 * BENCH_CHAIN_BIAS + 0.001,
			      "%u rounds: %g to %g", rounds, s->low, s->high);
			bench_stats_free(&stats);
		}
	result.rounds[0] = 0;
}

TEST_MAIN()
