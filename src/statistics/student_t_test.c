/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "statistics/student_t.h"
#include "tap.h"

static bool near(double a, double b, double by)
{
	return fabs(a - b) <= by * fabs(b) + 1e-300;
}

/*
 * Abramowitz and Stegun, table 26.10, and closed forms: with 1 degree of freedom 1 - 2 atan(t) /
 * pi, with 2 1 - t / sqrt(2 + t^2).
 */
TEST(table)
{
	static const struct {
		double t, df, p;
	} rows[] = {
		{ 12.706, 1, 0.05 }, { 4.303, 2, 0.05 },   { 2.776, 4, 0.05 },
		{ 2.228, 10, 0.05 }, { 2.042, 30, 0.05 },  { 1.980, 120, 0.05 },
		{ 63.657, 1, 0.01 }, { 4.604, 4, 0.01 },   { 3.169, 10, 0.01 },
		{ 8.610, 4, 0.001 }, { 4.587, 10, 0.001 }, { 1.960, 1e6, 0.05 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK(near(student_p(rows[i].t, rows[i].df), rows[i].p, 2e-3), "row %zu: %g", i,
		      student_p(rows[i].t, rows[i].df));
		CHECK(near(student_p(-rows[i].t, rows[i].df), rows[i].p, 2e-3), "row %zu", i);
		CHECK(near(student_t(rows[i].p, rows[i].df), rows[i].t, 2e-3), "row %zu: %g", i,
		      student_t(rows[i].p, rows[i].df));
	}
	for (double t = 0.01; t < 1e5; t *= 3) {
		CHECK(near(student_p(t, 1), 1 - 2 * atan(t) / M_PI, 1e-9), "t %g", t);
		CHECK(near(student_p(t, 2), 1 - t / sqrt(2 + t * t), 1e-7), "t %g", t);
	}
	CHECK(student_p(0, 3) == 1, "no difference");
	CHECK(student_p(INFINITY, 3) == 0, "all the difference");
}

/*
 * Computed by hand: a has mean 3 and variance 2.5, b 6 and 10; t = 3 / sqrt(2.5), df = 2.5^2 /
 * ((0.5^2 + 2^2) / 4).
 */
TEST(welch)
{
	const double a[] = { 1, 2, 3, 4, 5 }, b[] = { 2, 4, 6, 8, 10 };
	struct student_groups g = student_compare(a, 5, b, 5);

	CHECK(g.tested && g.change == 3, "%g", g.change);
	CHECK(near(g.p, student_p(3 / sqrt(2.5), 6.25 / (4.25 / 4)), 1e-12), "%g", g.p);
	CHECK(near(g.p, 0.107531, 1e-5), "%g", g.p);
	CHECK(near(g.half, student_t(0.05, 6.25 / (4.25 / 4)) * sqrt(2.5), 1e-9), "%g", g.half);
	CHECK(student_compare(b, 5, a, 5).change == -3 &&
		      near(student_compare(b, 5, a, 5).p, g.p, 1e-12),
	      "the other way round");
}

TEST(few_and_equal)
{
	const double same[] = { 1e15, 1e15, 1e15 }, other[] = { 1e15 + 1, 1e15 + 1 },
		     spread[] = { 10, 12, 14 }, far[] = { 20 };
	struct student_groups g = student_compare(same, 1, other, 1);

	CHECK(!g.tested && g.change == 1, "one number each cannot be tested");
	g = student_compare(same, 3, other, 2);
	CHECK(g.tested && g.p == 0 && g.half == 0 && g.change == 1, "every run agrees: %g", g.p);
	g = student_compare(same, 3, same, 2);
	CHECK(g.p == 1 && g.change == 0, "no change");
	/* Variance 4, t = 8 / sqrt(4 (1/3 + 1)), df 2. */
	g = student_compare(spread, 3, far, 1);
	CHECK(g.tested && near(g.p, student_p(8 / sqrt(16.0 / 3), 2), 1e-12), "%g", g.p);
	CHECK(student_compare(far, 1, spread, 3).p == g.p,
	      "either side may have the single number");
}

TEST(adjusted)
{
	/*
	 * The example of Benjamini and Hochberg, 1995, section 4: with q = 0.05 the first four are
	 * significant.
	 */
	double p[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
		       0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000 };
	size_t found = 0;

	CHECK(student_adjust(p, 15), "memory");
	for (size_t i = 0; i < 15; i++)
		found += p[i] <= 0.05;
	CHECK_EQ(found, 4, "found");
	CHECK(near(p[0], 0.0015, 1e-9) && near(p[3], 0.0095 * 15 / 4, 1e-9) && p[14] == 1, "%g %g",
	      p[0], p[3]);
	for (size_t i = 1; i < 15; i++)
		CHECK(p[i] >= p[i - 1], "in order");
}

TEST_MAIN()
