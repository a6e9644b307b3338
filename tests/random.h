/* SPDX-License-Identifier: MIT */
/* Random numbers of tests: the same in each run. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>

/* From 0 to below 1. Source: Steele et al., "Fast Splittable Pseudorandom Number Generators". */
static inline double random_uniform(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* Nearly normal, with a mean of 0 and a standard deviation of 1. */
static inline double random_normal(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += random_uniform(state);
	return sum;
}

#endif
