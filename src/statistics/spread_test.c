/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "statistics/spread.h"
#include "tap.h"

TEST(medians)
{
	static const struct {
		int line;
		uint64_t v[6];
		size_t n;
		uint64_t min, median, max;
		double mad;
	} rows[] = {
		{ __LINE__, { 7 }, 1, 7, 7, 7, 0 },
		{ __LINE__, { 9, 1 }, 2, 1, 5, 9, 4 },
		{ __LINE__, { 2, 1 }, 2, 1, 1, 2, 0 },
		{ __LINE__, { 3, 1, 2 }, 3, 1, 2, 3, 1 },
		{ __LINE__, { 4, 1, 3, 8 }, 4, 1, 3, 8, 1 },
		{ __LINE__,
		  { UINT64_MAX, UINT64_MAX - 2 },
		  2,
		  UINT64_MAX - 2,
		  UINT64_MAX - 1,
		  UINT64_MAX,
		  1 },
		{ __LINE__, { 0, 0, 0, 0, 5, 0 }, 6, 0, 0, 5, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spread s;

		CHECK_EQ(spread_of(rows[i].v, rows[i].n, &s, NULL, NULL), 0);
		CHECK_EQ(s.n, rows[i].n, "row at line %d", rows[i].line);
		CHECK_EQ(s.min, rows[i].min, "row at line %d", rows[i].line);
		CHECK_EQ(s.median, rows[i].median, "row at line %d", rows[i].line);
		CHECK_EQ(s.max, rows[i].max, "row at line %d", rows[i].line);
		CHECK(s.mad == rows[i].mad, "%f, row at line %d", s.mad, rows[i].line);
	}
}

TEST(outliers)
{
	static const struct {
		int line;
		uint64_t v[9];
		size_t n;
		unsigned marked; /* bit mask */
	} rows[] = {
		{ __LINE__, { 100, 101, 99, 100, 200 }, 5, 1 << 4 },
		{ __LINE__, { 100, 101, 99, 200 }, 4, 0 }, /* too few */
		{ __LINE__, { 100, 100, 100, 100, 100 }, 5, 0 },
		/* MAD is 1: more than 3.5 * 1.4826 = 5.19 away */
		{ __LINE__, { 100, 99, 101, 99, 101, 105 }, 6, 0 },
		{ __LINE__, { 100, 99, 101, 99, 101, 106 }, 6, 1 << 5 },
		{ __LINE__, { 100, 99, 101, 99, 101, 93 }, 6, 1 << 5 },
		/* MAD is 0: mean distance 10/9, limit 3.5 * 1.2533 * 10/9 = 4.87 */
		{ __LINE__, { 7, 7, 7, 7, 17, 7, 7, 7, 7 }, 9, 1 << 4 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spread s;
		bool is[9];
		unsigned marked = 0;

		spread_of(rows[i].v, rows[i].n, &s, is, NULL);
		for (size_t k = 0; k < rows[i].n; k++)
			marked |= (unsigned)is[k] << k;
		CHECK_EQ(marked, rows[i].marked, "row at line %d", rows[i].line);
		CHECK_EQ(s.outliers, __builtin_popcount(marked), "row at line %d", rows[i].line);
	}
}

TEST(means)
{
	const uint64_t v[] = { 10, 12, 14 }, same[] = { 226412345678, 226412345678, 226412345678 };
	struct spread s;

	spread_of(v, 3, &s, NULL, NULL);
	CHECK(s.mean == 12, "%f", s.mean);
	CHECK(fabs(s.error_of_mean - 2 / sqrt(3)) < 1e-12, "%f", s.error_of_mean);
	spread_of(same, 3, &s, NULL, NULL);
	CHECK(s.error_of_mean == 0, "equal counts have a spread of exactly 0, not %g",
	      s.error_of_mean);
	CHECK(s.mean == 226412345678.0, "%f", s.mean);
	spread_of(v, 1, &s, NULL, NULL);
	CHECK(s.error_of_mean == 0, "one run has none");
}

/*
 * Table of ranks (from 1) for a 95 % interval of the median, as in Conover's table A3: there is
 * none for n = 5.
 */
TEST(interval_ranks)
{
	static const struct {
		size_t n, rank;
	} rows[] = { { 1, 0 },   { 2, 0 },    { 5, 0 },      { 6, 0 },     { 8, 0 },
		     { 9, 1 },   { 11, 1 },   { 12, 2 },     { 15, 3 },    { 20, 5 },
		     { 50, 17 }, { 100, 39 }, { 1000, 468 }, { 1001, 469 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(spread_rank(rows[i].n), rows[i].rank, "n is %zu", rows[i].n);
}

/* A 95 % interval needs six runs; only that is shown as +-. */
TEST(kinds_of_intervals)
{
	CHECK_EQ(spread_interval(1), INTERVAL_NONE);
	CHECK_EQ(spread_interval(5), INTERVAL_RANGE);
	CHECK_EQ(spread_interval(6), INTERVAL_CONFIDENCE);
	CHECK(isnan(interval_percent(INTERVAL_NONE, 1, 2, 3)) &&
		      isnan(interval_percent(INTERVAL_RANGE, 0, 0, 3)),
	      "no percentage");
	CHECK(interval_percent(INTERVAL_CONFIDENCE, 90, 100, 110) == 10, "half the width");
	CHECK(interval_percent(INTERVAL_RANGE, 90, 100, 110) == 20 &&
		      interval_percent(INTERVAL_LIMITS, 90, 100, 110) == 20,
	      "the whole width");
	CHECK(interval_percent(INTERVAL_RANGE, 0, 0, 0) == 0, "all are 0");
}

TEST(reals)
{
	const double v[] = { 1.5, 0.5, 1.0, 2.0 };
	struct spread_real s;

	CHECK_EQ(spread_of_real(v, 4, &s, NULL), 0);
	CHECK(s.median == 1.25 && s.min == 0.5 && s.max == 2.0 && s.low == 0.5 && s.high == 2.0);
}

TEST_MAIN()
