/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdint.h>
#include "statistics/signed_rank.h"
#include "random.h"
#include "tap.h"

static struct signed_rank of(const double *d, size_t n)
{
	struct signed_rank r;

	CHECK(signed_rank_of(&r, d, n), "memory");
	return r;
}

/*
 * Two-sided, that all of n signs are equal: 2 / 2^n; of n = 3, the sums 0, 1, 2 and 6, 5, 4 have
 * one subset of ranks each.
 */
TEST(small_cases)
{
	static const double three[] = { 1, 2, 4 }, mixed[] = { -1, 2, 4 };
	struct signed_rank r = of(three, 3);
	double low, high;

	CHECK(r.estimate == 2.25, "1, 1.5, 2, 2.5, 3, 4: %g", r.estimate);
	CHECK(signed_rank_p(&r, 0) == 0.25, "%g", signed_rank_p(&r, 0));
	CHECK(signed_rank_p(&r, 1) == 0.5, "a tie is no evidence: %g", signed_rank_p(&r, 1));
	CHECK(signed_rank_p(&r, 9) == 0.25, "%g", signed_rank_p(&r, 9));
	CHECK(signed_rank_p(&r, r.estimate) == 1, "%g", signed_rank_p(&r, r.estimate));
	CHECK(!signed_rank_interval(&r, 0.24, &low, &high), "too few");
	CHECK(signed_rank_interval(&r, 0.25, &low, &high) && low == 1 && high == 4, "%g to %g", low,
	      high);
	CHECK(signed_rank_interval(&r, 0.5, &low, &high) && low == 1.5 && high == 3, "%g to %g",
	      low, high);
	signed_rank_free(&r);
	r = of(mixed, 3);
	CHECK(signed_rank_p(&r, 0) == 0.5, "%g", signed_rank_p(&r, 0));
	signed_rank_free(&r);
	r = of(three, 1);
	CHECK(r.estimate == 1 && signed_rank_p(&r, 0) == 1, "one");
	signed_rank_free(&r);
	CHECK(signed_rank_least(0.01) == 8 && signed_rank_least(0.25) == 3, "the fewest: %zu",
	      signed_rank_least(0.01));
}

/* Source: Hollander, Wolfe and Chicken, examples 3.1, 3.3 and 3.4: the depression scale. */
TEST(an_example_from_a_textbook)
{
	static const double d[] = { -0.952, 0.147,  -1.022, -0.430, -0.620,
				    -0.590, -0.490, 0.080,  -0.010 };
	struct signed_rank r = of(d, 9);
	double low, high;

	CHECK(fabs(r.estimate + 0.46) < 1e-9, "%g", r.estimate);
	CHECK(fabs(signed_rank_p(&r, 0) - 2 * 0.01953125) < 1e-12, "T = 5: %g",
	      signed_rank_p(&r, 0));
	CHECK(signed_rank_interval(&r, 0.04, &low, &high) && fabs(low + 0.786) < 1e-9 &&
		      fabs(high + 0.010) < 1e-9,
	      "%g to %g", low, high);
	signed_rank_free(&r);
}

/* Most differences are 0, as of clocks that move in steps. */
TEST(ties)
{
	static const double d[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 4 };
	struct signed_rank r = of(d, 10);
	double low, high;

	CHECK(r.estimate == 0 && signed_rank_p(&r, 0) == 1, "%g", signed_rank_p(&r, 0));
	CHECK(signed_rank_interval(&r, 0.01, &low, &high) && low == 0 && high <= 2, "%g to %g", low,
	      high);
	signed_rank_free(&r);
}

static uint64_t state = 1;

enum noise { WHITE, AUTOCORRELATED, WALK, JUMPS, LONG_TAIL, NOISES };

/* The next value of a machine's speed. */
static double next(enum noise noise, double *level)
{
	switch (noise) {
	case AUTOCORRELATED:
		return *level = 0.9 * *level + random_normal(&state);
	case WALK:
		return *level += random_normal(&state);
	case JUMPS: /* a neighbour begins or ends */
		if (random_uniform(&state) < 0.05)
			*level = random_uniform(&state) < 0.5 ? 0 : 20;
		return *level + random_normal(&state);
	case LONG_TAIL:
		return random_normal(&state) -
			10 * (random_uniform(&state) < 0.2) * log(1 - random_uniform(&state));
	default:
		return random_normal(&state);
	}
}

/* Pairs in random order; the second kind of run takes 3 more. */
static void pairs(double *d, size_t n, enum noise noise)
{
	double level = 0;

	for (size_t i = 0; i < n; i++) {
		double first = next(noise, &level), second = next(noise, &level);

		d[i] = 3 + (random_uniform(&state) < 0.5 ? first - second : second - first);
	}
}

/*
 * The interval includes the truth as often as stated, with noise that is neither independent nor
 * normal. Of 4,000, 10 % is 400 with a standard deviation of 19; of 400, 40 with 6.
 */
TEST(coverage)
{
	static const struct {
		size_t n, times, most;
	} rows[] = { { 8, 4000, 476 }, { 24, 4000, 476 }, { 130, 400, 64 } };
	double d[130], low, high;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (enum noise noise = 0; noise < NOISES; noise++) {
			size_t missed = 0;

			state = 7 * (uint64_t)noise + rows[i].n;
			for (size_t k = 0; k < rows[i].times; k++) {
				struct signed_rank r;
				bool in;

				pairs(d, rows[i].n, noise);
				r = of(d, rows[i].n);
				in = signed_rank_interval(&r, 0.1, &low, &high) && low <= 3 &&
					high >= 3;
				missed += !in;
				CHECK_EQ(in, signed_rank_p(&r, 3) > 0.1, "p agrees");
				signed_rank_free(&r);
			}
			CHECK(missed <= rows[i].most && missed >= rows[i].most / 4,
			      "%zu pairs, noise %d: %zu of %zu", rows[i].n, (int)noise, missed,
			      rows[i].times);
		}
}

TEST_MAIN()
