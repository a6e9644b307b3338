/* SPDX-License-Identifier: MIT */
/*
 * Runs of a bench -> the cost of an operation, its confidence interval, and which variant costs
 * less. The pair of marks was measured separately (the baseline): it is subtracted, and its
 * uncertainty is part of every interval. Negative results remain negative.
 *
 * For runs and for baselines the mean of the middle half is used. So runs that an interrupt delayed
 * do not count, and readings of a coarse clock, which take only two or three values, are averaged.
 */
#ifndef BENCH_COST_H
#define BENCH_COST_H

#include "bench/bench.h"

/*
 * Another hardware thread of the core takes slots from a chain of one addition per cycle, and fewer
 * from code that waits more: measured, up to 3 % of `imul`'s 3 cycles, equally in every run, so the
 * spread does not show it. Estimated cycles are uncertain by this share.
 */
#define BENCH_CHAIN_BIAS 0.035

/* One counter of one variant, per operation. */
struct bench_stat {
	double *run; /* each run, in order */
	double *sorted;
	size_t n;
	double value;
	/*
	 * 95 % confidence interval: includes the spread of the runs and of the baselines; at least
	 * half a count, for the clock a step, on both sides. NAN with fewer than BENCH_LEAST runs
	 * or baselines, unless exact counts were all equal.
	 */
	double low, high;
	double min, max, mean;
	/* standard deviation of the mean, including the baseline's; NAN for a single run */
	double error;
	size_t outliers; /* by Iglewicz and Hoaglin's modified z-score, as in spread.h */
	double base, base_low, base_high; /* per pair of marks */
	double pairs_per_op;
	/* minimum uncertainty of the runs' middle, due to the counter's resolution */
	double unsure;
	/*
	 * all runs are equal, and all baselines; never for a clock, which may not have advanced
	 * meanwhile
	 */
	bool constant;
};

/* Comparison of a variant with the first one. */
struct bench_verdict {
	/* of the displayed values; 95 % confidence within +- half, NAN if not tested */
	double change, half;
	/* relative to the first one's value; infinite if that is, or may be, 0 */
	double percent;
	/* probability of such a change, or a larger one, by chance; NAN if not tested */
	double p;
	size_t blocks;
	bool tested, beyond; /* p is small enough: BENCH_P */
};

#define BENCH_P 0.05
/*
 * Minimum number of runs for an interval: with fewer, the middle half is three or less, too few for
 * Student's t.
 */
enum { BENCH_LEAST = 6 };

struct bench_stats {
	struct bench_stat *stat; /* [variant * n_counters + counter]; n 0: unavailable */
	struct bench_verdict *verdict;
	/*
	 * with plan.cross, for each counter by registers: comparison with perf's; p is corrected
	 * for the number of tests
	 */
	struct bench_verdict *cross;
	double step[BENCH_COUNTERS]; /* step of that counter; 0: exact */
	size_t n_variants, n_counters;
};

/* -ENOMEM. Call bench_stats_free() after use, also on failure. */
int bench_stats(struct bench_stats *out, const struct bench_plan *plan,
		const struct bench_result *r, struct tare_error *err);
void bench_stats_free(struct bench_stats *s);

/* Of a whole run, with all rounds, without the baseline. */
double bench_ticks(const struct bench_stats *s, const struct bench_result *r, size_t variant,
		   size_t counter);

/* "exact", "counted", "estimated", "unavailable". */
const char *bench_quality(const struct bench_counter *c);

/*
 * With plan.cross, the counter of the same event by perf; SIZE_MAX: `counter` is not by registers,
 * or there is none with values.
 */
size_t bench_by_perf(const struct bench_result *r, size_t counter);

static inline const struct bench_stat *bench_stat_of(const struct bench_stats *s, size_t variant,
						     size_t counter)
{
	return &s->stat[variant * s->n_counters + counter];
}

static inline const struct bench_verdict *bench_verdict_of(const struct bench_stats *s,
							   size_t variant, size_t counter)
{
	return &s->verdict[variant * s->n_counters + counter];
}

#endif
