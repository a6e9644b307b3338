/* SPDX-License-Identifier: MIT */
/* The spread of repeated counts: order statistics, because counts are rarely normal. */
#ifndef STATISTICS_SPREAD_H
#define STATISTICS_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

/*
 * The meaning of low and high of a value. Each is shown under its own name: see
 * docs/internals/noise.md, "The sign +-".
 */
enum interval_kind {
	INTERVAL_NONE,       /* one run: low and high are the value */
	INTERVAL_RANGE,      /* fewer than SPREAD_CONFIDENCE_LEAST runs: minimum and maximum */
	INTERVAL_CONFIDENCE, /* of the median, at least 95 %; only this is shown as +- */
	/* includes an assumption about the time in which the event was not counted */
	INTERVAL_LIMITS,
};

/*
 * Of five runs, all are above the median with probability 1/32, and all below it with 1/32: 94 %.
 * Of six: 97 %.
 */
enum { SPREAD_CONFIDENCE_LEAST = 6 };

static inline enum interval_kind spread_interval(size_t n)
{
	return n < 2                          ? INTERVAL_NONE
		: n < SPREAD_CONFIDENCE_LEAST ? INTERVAL_RANGE
					      : INTERVAL_CONFIDENCE;
}

/* "range", "confidence", "limits"; NULL for INTERVAL_NONE. */
const char *interval_name(enum interval_kind kind);

/*
 * The number after the sign or the word, in percent of the median: half the width of a confidence
 * interval, the whole width of a range and of limits. NAN if there is none: one run, or a median of
 * 0 with a width.
 */
double interval_percent(enum interval_kind kind, double low, double median, double high);

struct spread {
	size_t n;
	uint64_t min, median, max; /* median: base/median.h */
	double mean;
	double error_of_mean; /* standard deviation / sqrt(n): what perf stat calls variance, not in
				 percent */
	double mad;           /* median distance from the median */
	size_t outliers;
	/*
	 * The range of the median of many more such runs, with at least 95 % confidence: order
	 * statistics of the binomial distribution; for fewer than six runs min and max
	 * (spread_interval()).
	 *
	 * Source: Conover, "Practical Nonparametric Statistics", confidence interval for a
	 * quantile.
	 */
	uint64_t low, high;
};

/*
 * n >= 1 values. outlier[i] (may be NULL) marks outliers, for five or more values: Iglewicz and
 * Hoaglin's modified z-score, |value - median| > 3.5 * 1.4826 * MAD. If more than half are equal
 * (MAD 0), the mean distance from the median is used, with the factor 1.2533.
 *
 * Source: Iglewicz and Hoaglin, "How to Detect and Handle Outliers", ASQC 1993, "Modified
 * Z-scores".
 */
int spread_of(const uint64_t *value, size_t n, struct spread *out, bool *outlier,
	      struct tare_error *err);

/* For real values (metrics): median and the same interval. */
struct spread_real {
	double min, median, max, low, high;
};
int spread_of_real(const double *value, size_t n, struct spread_real *out, struct tare_error *err);

/*
 * Rank, from 0, of the interval's lower end among n sorted values; the upper one is n - 1 - rank.
 */
size_t spread_rank(size_t n);

#endif
