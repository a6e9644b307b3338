/* SPDX-License-Identifier: MIT */
/*
 * Runs of a bench -> what an operation costs, how sure that is, and which variant costs less. The pair of marks was measured
 * by itself (the baseline), as often as asked: that is taken off, and how far it may lie from the truth is part of every interval. Results
 * below 0 stay below 0.
 *
 * Of runs and of baselines the mean of the middle half is taken: runs that an interrupt hit do not count, and a clock that moves on by
 * many ticks at a time, whose readings are two or three numbers and their median one of them, is averaged.
 */
#ifndef BENCH_COST_H
#define BENCH_COST_H

#include "bench/bench.h"

/*
 * Another hardware thread of the core takes slots from a chain of one addition a cycle, and fewer from code that waits more: measured,
 * up to 3 % of `imul`'s 3 cycles, in every run alike, so that no spread shows it. Estimated cycles are uncertain by this share.
 */
#define BENCH_CHAIN_BIAS 0.035

/* One counter of one variant, per operation. */
struct bench_stat {
	double *run; /* each run, in the order they ran */
	double *sorted;
	size_t n;
	double value;
	/*
	 * Where it would lie in many more such runs, by 95 %: runs' and baseline's spread together, and never closer than half a count, of the
	 * clock a step. NAN with fewer than BENCH_LEAST runs or baselines, unless exact counts were all alike.
	 */
	double low, high;
	double min, max, mean;
	double error; /* standard deviation of the mean, that of the baseline's included; NAN of a single run */
	size_t outliers; /* by Iglewicz and Hoaglin's modified z-score, as in spread.h */
	double base, base_low, base_high; /* of one pair of marks */
	double pairs_per_op;
	double unsure; /* of the runs' middle, however alike they are: what a step of the counter leaves open */
	bool constant; /* all runs alike, and all baselines; never of a clock, which may have stood still meanwhile */
};

/* A variant against the first one. */
struct bench_verdict {
	double change, half; /* of the values that are shown; within +- half by 95 %, NAN if not tested */
	double percent;	     /* of the first one's; infinite where that is, or may be, 0 */
	double p;	     /* of that change, or a larger one, if there were none; NAN if not tested */
	size_t blocks;
	bool tested, beyond; /* p small enough: BENCH_P */
};

#define BENCH_P 0.05
/* Runs from which an interval is made: of fewer the middle half is three or less, and Student's factor has nothing to go by. */
enum { BENCH_LEAST = 6 };

struct bench_stats {
	struct bench_stat *stat; /* [variant * n_counters + counter]; n 0: unavailable */
	struct bench_verdict *verdict;
	struct bench_verdict *cross; /* with plan.cross, of each counter by registers: perf's against it; p among all of them */
	double step[BENCH_COUNTERS]; /* by which that counter moves on at a time; 0: exact */
	size_t n_variants, n_counters;
};

/* -ENOMEM. bench_stats_free() after use, also then. */
int bench_stats(struct bench_stats *out, const struct bench_plan *plan, const struct bench_result *r, struct tare_error *err);
void bench_stats_free(struct bench_stats *s);

/* Of a whole run, all rounds, without the baseline. */
double bench_ticks(const struct bench_stats *s, const struct bench_result *r, size_t variant,
		   size_t counter);

/* "exact", "counted", "estimated", "unavailable". */
const char *bench_quality(const struct bench_counter *c);

/* With plan.cross, the counter by perf of the same event; SIZE_MAX: `counter` is not by registers, or there is none with numbers. */
size_t bench_by_perf(const struct bench_result *r, size_t counter);

static inline const struct bench_stat *bench_stat_of(const struct bench_stats *s, size_t variant, size_t counter)
{
	return &s->stat[variant * s->n_counters + counter];
}

static inline const struct bench_verdict *bench_verdict_of(const struct bench_stats *s, size_t variant, size_t counter)
{
	return &s->verdict[variant * s->n_counters + counter];
}

#endif
