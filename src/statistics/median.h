/* SPDX-License-Identifier: MIT */
/*
 * The median as used for all numbers in tare: the middle one of the sorted values; for an even
 * number of values, halfway between the middle two, rounded down for integers.
 */
#ifndef STATISTICS_MEDIAN_H
#define STATISTICS_MEDIAN_H

#include <stddef.h>
#include <stdint.h>

/* lower <= upper; their difference must not overflow. */
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
