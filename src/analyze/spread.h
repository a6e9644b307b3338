/* SPDX-License-Identifier: MIT */
/* How far repeated counts lie apart: order statistics, as counts are rarely normal. */
#ifndef ANALYZE_SPREAD_H
#define ANALYZE_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct spread {
	size_t n;
	uint64_t min, median, max; /* median: base/median.h */
	double mean;
	double error_of_mean; /* standard deviation / sqrt(n): what perf stat calls variance, not in
				 percent */
	double mad;           /* median distance from the median */
	size_t outliers;
	/*
	 * Where the median of many more such runs would lie, with at least 95 %: order statistics
	 * of the binomial distribution, and from fewer than six runs simply min and max. Source:
	 * Conover, "Practical Nonparametric Statistics", confidence interval for a quantile.
	 */
	uint64_t low, high;
};

/*
 * n >= 1 values. outlier[i] (may be NULL) says which lie oddly far: by Iglewicz and Hoaglin's
 * modified z-score, |value - median| > 3.5 * 1.4826 * MAD, and from five values on. Where more than
 * half are equal (MAD 0), the mean distance from the median serves, with factor 1.2533. Source:
 * Iglewicz and Hoaglin, "How to Detect and Handle Outliers", ASQC 1993, "Modified Z-scores".
 */
int spread_of(const uint64_t *value, size_t n, struct spread *out, bool *outlier,
	      struct tare_error *err);

/* For real values (metrics): median and the same interval. */
struct spread_real {
	double min, median, max, low, high;
};
int spread_of_real(const double *value, size_t n, struct spread_real *out, struct tare_error *err);

/* Rank, from 0, of the interval's lower end among n sorted values; the upper is n - 1 - rank. */
size_t spread_rank(size_t n);

#endif
