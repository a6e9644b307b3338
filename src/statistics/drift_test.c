/* SPDX-License-Identifier: MIT */
/*
 * How often a drift is mistaken for a change, by the order of the runs: simulated, with fixed
 * random numbers.
 */
#include <math.h>
#include <stdlib.h>
#include "statistics/significance.h"
#include "random.h"
#include "tap.h"

enum { RUNS = 40 };

/* Computed by hand: A A A B B B and A B B A A B, one second apart. */
TEST(ratio)
{
	static const uint64_t blocks[] = { 1, 2, 3, 4, 5, 6 }, turns[] = { 1, 4, 5, 2, 3, 6 },
			      same[] = { 7, 7, 7, 7, 7, 7 };
	static const uint64_t unknown[] = { 9, 4, 1, 0, 5, 6 };
	struct drift d;

	CHECK(drift_of(&d, blocks, 3, 3), "memory");
	/* Mean distance between the sides 3, within 8/9: 3 - 8/9, by a variance of 2/3. */
	CHECK(d.blocks && fabs(d.ratio - (3 - 8.0 / 9) / (2.0 / 3)) < 1e-12, "blocks: %.12g",
	      d.ratio);
	CHECK(d.df > 2 && d.df < 4, "fewer degrees of freedom: %g", d.df);
	CHECK(drift_of(&d, turns, 3, 3) && !d.blocks, "turns: %.12g", d.ratio);
	CHECK(drift_of(&d, same, 3, 3) && !d.blocks, "no time in between");
	CHECK(drift_of(&d, unknown, 3, 3) && fabs(d.ratio - (3 - 8.0 / 9) / (2.0 / 3)) < 1e-12,
	      "the order given: %.12g", d.ratio);
	CHECK(drift_of(&d, blocks, 1, 1) && !d.blocks, "one each");
}

static uint64_t state;

static double normal(void)
{
	double radius = sqrt(-2 * log(1 - random_uniform(&state)));

	return radius * cos(2 * M_PI * random_uniform(&state));
}

enum noise { WHITE, SLOW, WALK, TREND };

/* With times: one run per second. */
static void make(double *at, size_t n, enum noise kind, size_t gap)
{
	double level = normal();

	for (size_t i = 0; i < n; i++) {
		for (size_t step = 0; step < (i == n / 2 ? gap + 1 : 1); step++)
			level = kind == WHITE  ? normal()
				: kind == SLOW ? 0.9 * level + sqrt(1 - 0.81) * normal()
					       : level + normal();
		at[i] = kind == TREND ? 0.5 * (double)i + normal() : level;
	}
}

/* Blocks: A A A B B B; turns: A B B A A B. */
static size_t place(size_t time, size_t n, bool turns)
{
	size_t turn = time / 2, second = time % 2;

	if (!turns)
		return time;
	return second ^ turn % 2 ? n + turn : turn;
}

/*
 * The fraction of programs without a change for which one is found; judged: with the times of the
 * runs.
 */
static double alarms(size_t n, bool turns, bool judged, enum noise kind, size_t gap, double change,
		     double *withheld)
{
	int programs = getenv("TARE_MORE") ? 4000 : 250;
	int found = 0, not_judged = 0;

	for (int i = 0; i < programs; i++) {
		double at[RUNS], v[RUNS];
		uint64_t start[RUNS];
		struct drift d;
		struct change c = { .value = v, .drift = judged ? &d : NULL };

		make(at, 2 * n, kind, gap);
		for (size_t t = 0; t < 2 * n; t++) {
			size_t run = place(t, n, turns);

			start[run] = 1000 + t + (t >= n ? gap : 0);
			v[run] = 1000 + at[t] + (run >= n ? change : 0);
		}
		CHECK(drift_of(&d, start, n, n) && significance_judge(&c, 1, n, n), "memory");
		found += c.verdict == CHANGE_BEYOND;
		not_judged += c.verdict == CHANGE_ORDER;
	}
	*withheld = (double)not_judged / programs;
	return (double)found / programs;
}

TEST(false_alarms)
{
	static const size_t runs[] = { 3, 5, 10, 20 }, gaps[] = { 0, 50 };
	static const char *const names[] = { "white", "slow", "walk", "trend" };
	/* 0.05 plus four and two standard errors of a fraction */
	double withheld, most = getenv("TARE_MORE") ? 0.065 : 0.08;
	unsigned cell = 0; /* each has its own random numbers */

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		for (enum noise kind = WHITE; kind <= TREND; kind++) {
			double turns, plain;

			if (!tap_tried(cell++))
				continue;
			state = 100 * i + kind;
			plain = alarms(runs[i], false, false, kind, 0, 0, &withheld);
			turns = alarms(runs[i], true, true, kind, 0, 0, &withheld);
			printf("# %s, %zu + %zu: blocks, order ignored %.3f; turns %.3f (not judged %.3f)\n",
			       names[kind], runs[i], runs[i], plain, turns, withheld);
			CHECK(turns <= most && withheld == 0, "in turns: %g", turns);
			CHECK(kind == WHITE || plain > 0.10, "the order ignored: %g", plain);
			for (size_t g = 0; g < 2; g++) {
				double blocks = alarms(runs[i], false, true, kind, gaps[g], 0,
						       &withheld);

				printf("#   blocks, %zu s between: %.3f (not judged %.3f)\n",
				       gaps[g], blocks, withheld);
				CHECK(blocks <= most, "blocks: %g", blocks);
			}
		}
}

TEST(a_change_is_found)
{
	double withheld;

	state = 1;
	CHECK(alarms(5, false, true, WHITE, 0, 20, &withheld) > 0.95, "large, in blocks");
	CHECK(alarms(5, true, true, WHITE, 0, 3, &withheld) > 0.95, "small, in turns");
	CHECK(alarms(5, false, true, WHITE, 1000, 3, &withheld) == 0 && withheld > 0.9,
	      "not judged: %g", withheld);
}

TEST_MAIN()
