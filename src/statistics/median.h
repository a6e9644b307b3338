/* SPDX-License-Identifier: MIT */
/*
 * The median, as every number of tare that is called so: of sorted values the one in the middle; of an even count halfway between the
 * middle two, which of whole numbers is rounded down.
 */
#ifndef STATISTICS_MEDIAN_H
#define STATISTICS_MEDIAN_H

#include <stddef.h>
#include <stdint.h>

/* lower <= upper, whose distance fits. */
static inline int64_t median_between(int64_t lower, int64_t upper)
{
	return lower + (int64_t)(((uint64_t)upper - (uint64_t)lower) / 2);
}

/* n >= 1, sorted. */
static inline uint64_t median_of(const uint64_t *sorted, size_t n)
{
	uint64_t lower = sorted[(n - 1) / 2];

	return lower + (sorted[n / 2] - lower) / 2;
}

static inline double median_of_real(const double *sorted, size_t n)
{
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

#endif
