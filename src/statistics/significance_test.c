/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include "statistics/significance.h"
#include "random.h"
#include "tap.h"

/*
 * Computed by hand: with f = 1/2 it is 2 / 2^(a + b); (2, 1) is f (1 - f); (4, 1) is u (1 - 3 u)
 * with u = 1/6.
 */
TEST(unseen)
{
	static const struct {
		size_t a, b;
		double p;
	} rows[] = { { 1, 1, 1 },         { 2, 1, 0.25 },      { 3, 1, 0.125 },
		     { 4, 1, 1.0 / 12 },  { 2, 2, 0.125 },     { 3, 2, 0.0625 },
		     { 4, 2, 0.03125 },   { 3, 3, 0.03125 },   { 4, 3, 1.0 / 64 },
		     { 4, 4, 1.0 / 128 }, { 5, 5, 1.0 / 512 }, { 6, 6, 1.0 / 2048 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double p = significance_unseen(rows[i].a, rows[i].b);

		CHECK(fabs(p - rows[i].p) < 1e-9, "%zu + %zu: %.12g", rows[i].a, rows[i].b, p);
		CHECK(p == significance_unseen(rows[i].b, rows[i].a), "either way round");
	}
}

/* Six runs of one quantity, the first n_before of them before. */
static struct change judge_one(const double *v, size_t n_before, size_t n_after, double resolution)
{
	struct change c = { .value = v, .resolution = resolution };

	CHECK(significance_judge(&c, 1, n_before, n_after), "memory");
	return c;
}

TEST(verdicts)
{
	const double agree[] = { 1e9, 1e9, 1e9, 1e9 + 150000, 1e9 + 150000, 1e9 + 150000 },
		     same[] = { 7, 7, 7, 7, 7, 7 };
	const double jitter[] = { 1000000, 1000000, 1000003, 1000016, 1000016, 1000016 };
	const double both[] = { 1000, 1010, 1000, 150000, 150010, 150010 },
		     noisy[] = { 1, 9, 5, 6, 2, 8 };
	const double many[] = { 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6 };
	const double nearly[] = { 311200, 311206, 313000, 313002 };
	struct change c;

	c = judge_one(agree, 3, 3, 0);
	CHECK(c.verdict == CHANGE_BEYOND && c.test.p == 0.03125 && c.q == 0.03125 && c.unseen,
	      "3 + 3 are enough: %g", c.q);
	c = judge_one(agree + 1, 2, 2, 0);
	CHECK(c.verdict == CHANGE_FEW && c.test.p == 0.125 && c.enough == 3,
	      "2 + 2 are not: %g, %zu", c.test.p, c.enough);
	CHECK(judge_one(agree + 1, 2, 1, 0).verdict == CHANGE_FEW &&
		      judge_one(agree, 3, 2, 0).verdict == CHANGE_FEW,
	      "nor these");
	c = judge_one(agree + 2, 1, 1, 0);
	CHECK(c.verdict == CHANGE_FEW && !c.test.tested && c.enough == 3, "nor one each");
	c = judge_one(nearly, 2, 1, 0);
	CHECK(c.verdict == CHANGE_FEW && c.test.p == 2.0 / 3 && c.by == CHANGE_BY_RANK && !c.unseen,
	      "two that nearly agree against one are no better: %g", c.test.p);
	CHECK(judge_one(nearly + 1, 1, 2, 0).verdict == CHANGE_FEW, "either way round");
	CHECK(judge_one(agree, 3, 3, 100000).verdict == CHANGE_BEYOND,
	      "beyond the resolution, too");
	c = judge_one(same, 3, 3, 0);
	CHECK(c.verdict == CHANGE_NONE && c.test.p == 1 && c.q == 1, "nothing");
	CHECK(judge_one(same, 1, 1, 0).verdict == CHANGE_NONE, "nothing, from one each");
	CHECK(judge_one(noisy, 3, 3, 0).verdict == CHANGE_WITHIN, "noise");
	CHECK(judge_one(jitter, 3, 3, 0).verdict == CHANGE_BEYOND,
	      "smaller noise that was observed");
	c = judge_one(jitter, 3, 3, 4000);
	CHECK(c.verdict == CHANGE_SMALL && c.enough == 6 && c.q == 1 && c.test.p == 0.03125,
	      "what threads do: %zu", c.enough);
	c = judge_one(both, 3, 3, 4000);
	CHECK(c.verdict == CHANGE_BEYOND && c.unseen && c.test.p == 0.03125,
	      "a spread within the resolution does not count: %g", c.test.p);
	CHECK(judge_one(both, 3, 3, 0).test.p < 1e-6, "but without a resolution");
	c = judge_one(many, 6, 6, 4000);
	CHECK(c.verdict == CHANGE_BEYOND && fabs(c.test.p - 1.0 / 2048) < 1e-12,
	      "6 + 6 are enough for small differences: %g", c.test.p);
	CHECK(judge_one(many + 1, 5, 6, 4000).verdict == CHANGE_BEYOND &&
		      judge_one(many + 1, 5, 5, 4000).verdict == CHANGE_SMALL,
	      "5 + 5 do not");
}

/*
 * Equal or small differences do not weaken other results; noisy ones do, and then more runs are
 * needed.
 */
TEST(who_asks)
{
	static const double v[][8] = { { 10, 10, 10, 20, 20, 20 },
				       { 5, 5, 5, 5, 5, 5 },
				       { 90, 93, 91, 92, 90, 94 },
				       { 1, 9, 5, 6, 2, 8 } };
	struct change c[4] = { { .value = v[0] },
			       { .value = v[1] },
			       { .value = v[2], .resolution = 4 },
			       { .value = v[3] } };

	CHECK(significance_judge(c, 3, 3, 3), "memory");
	CHECK(c[0].verdict == CHANGE_BEYOND && c[0].q == 0.03125, "alone: %g", c[0].q);
	CHECK(c[1].verdict == CHANGE_NONE && c[2].verdict == CHANGE_SMALL, "no questions");
	CHECK(significance_judge(c, 4, 3, 3), "memory");
	CHECK(c[0].verdict == CHANGE_FEW && c[0].q == 0.0625 && c[0].enough == 4,
	      "one of two: %g, %zu", c[0].q, c[0].enough);
	CHECK(c[3].verdict == CHANGE_WITHIN, "the other");
}

static uint64_t state;

enum { LABELS = 10, RUNS = 12 };

/*
 * Noise of a clock: normal, and in a fraction of the runs a disturbance adds ten times its spread
 * on average.
 */
static double clocked(double share)
{
	double normal = sqrt(-2 * log(1 - random_uniform(&state))) *
		cos(2 * M_PI * random_uniform(&state));

	return normal +
		(random_uniform(&state) < share ? -10 * log(1 - random_uniform(&state)) : 0);
}

/*
 * Programs with this many labels, without a change, and with noise in each label: two values that
 * differ by `by`, the second one in a fraction of the runs; with 0: noise of a clock. Returns the
 * number of programs for which a change is reported.
 */
static double told(size_t labels, size_t a, size_t b, double share, double resolution, double by,
		   int programs, double *parted)
{
	int any = 0, apart = 0;

	for (int i = 0; i < programs; i++) {
		double v[LABELS][RUNS];
		struct change c[LABELS];
		bool found = false, full = false;

		for (size_t l = 0; l < labels; l++) {
			c[l] = (struct change){ .value = v[l], .resolution = resolution };
			for (size_t r = 0; r < a + b; r++)
				v[l][r] = 1e6 +
					(by == 0                                  ? clocked(share)
						 : random_uniform(&state) < share ? by
										  : 0);
		}
		CHECK(significance_judge(c, labels, a, b), "memory");
		for (size_t l = 0; l < labels; l++) {
			found |= c[l].verdict == CHANGE_BEYOND;
			full |= c[l].unseen && c[l].test.change != 0;
		}
		any += found;
		apart += full;
	}
	*parted = (double)apart / programs;
	return (double)any / programs;
}

/*
 * The table of docs/internals/noise.md, with fixed random numbers. No rate exceeds 5 %, except for
 * noise tested with Welch's test, because its values are two and not normal: there at most 8 %.
 */
TEST(false_alarms)
{
	static const struct {
		size_t a, b;
	} runs[] = {
		{ 1, 1 }, { 2, 1 }, { 2, 2 }, { 3, 2 }, { 3, 3 }, { 4, 4 }, { 5, 5 }, { 6, 6 }
	};
	static const double shares[] = { 0.5, 0.2, 0.05 };
	int more = getenv("TARE_MORE") ? 20 : 1;
	unsigned cell = 0; /* each has its own random numbers */

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++) {
			double part[3], rate[3];

			if (!tap_tried(cell++))
				continue;
			state = 1000 * i + s;
			rate[0] = told(1, runs[i].a, runs[i].b, shares[s], 0, 16, 500 * more,
				       &part[0]);
			rate[1] = told(LABELS, runs[i].a, runs[i].b, shares[s], 0, 16, 60 * more,
				       &part[1]);
			rate[2] = told(LABELS, runs[i].a, runs[i].b, shares[s], 4000, 16, 60 * more,
				       &part[2]);
			printf("# %zu + %zu, in %g of runs: one label %.4f (sides part in %.4f), ten %.4f (%.4f), with resolution %.4f\n",
			       runs[i].a, runs[i].b, shares[s], rate[0], part[0], rate[1], part[1],
			       rate[2]);
			CHECK(rate[0] <= 0.05 && rate[1] <= 0.08, "%zu + %zu, %g: %g %g", runs[i].a,
			      runs[i].b, shares[s], rate[0], rate[1]);
			CHECK(rate[2] == 0 || runs[i].a == 6, "%zu + %zu, %g: %g", runs[i].a,
			      runs[i].b, shares[s], rate[2]);
		}
}

/*
 * The same for a clock. A single run is not judged, because it may be disturbed: Student's test
 * alone would give 9 % for 8 + 1 runs.
 */
TEST(false_alarms_of_a_clock)
{
	static const struct {
		size_t a, b;
	} runs[] = { { 2, 1 }, { 3, 1 }, { 5, 1 }, { 8, 1 }, { 2, 2 }, { 3, 2 },
		     { 5, 2 }, { 8, 2 }, { 9, 3 }, { 3, 3 }, { 6, 6 } };
	static const double shares[] = { 0, 0.2 };
	int more = getenv("TARE_MORE") ? 20 : 1;
	unsigned cell = 0; /* each has its own random numbers */

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++) {
			double part, rate[2];

			if (!tap_tried(cell++))
				continue;
			state = 7000 * i + s;
			rate[0] = told(1, runs[i].a, runs[i].b, shares[s], 0, 0, 500 * more, &part);
			rate[1] = told(LABELS, runs[i].a, runs[i].b, shares[s], 0, 0, 60 * more,
				       &part);
			printf("# clock, %zu + %zu, disturbed in %g: one label %.4f, ten %.4f\n",
			       runs[i].a, runs[i].b, shares[s], rate[0], rate[1]);
			CHECK(rate[0] <= 0.06 && rate[1] <= 0.08, "%zu + %zu, %g: %g %g", runs[i].a,
			      runs[i].b, shares[s], rate[0], rate[1]);
			CHECK(rate[0] + rate[1] == 0 || runs[i].b > 1, "%zu + %zu, %g: %g %g",
			      runs[i].a, runs[i].b, shares[s], rate[0], rate[1]);
		}
}

TEST_MAIN()
