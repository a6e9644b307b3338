/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "bisect/posterior.h"
#include "random.h"
#include "tap.h"

static uint64_t state = 1;

static struct posterior line(size_t n)
{
	struct posterior p;

	CHECK(posterior_new(&p, n), "memory");
	for (size_t i = 1; i < n; i++)
		posterior_parent(&p, i, i - 1);
	return p;
}

/* One measurement in the middle of four commits, and of the last: the odds by hand. */
TEST(one_measurement)
{
	struct posterior_measure m[] = { { 1, 0, 0.004 }, { 3, 0.03, 0.004 } };
	struct posterior p = line(4);
	/* if both are slow, the step is 0.015, and both are 3 errors (of 0.005) off */
	double odds = pow(1 + 9.0 / 8, -9);

	CHECK_EQ(posterior_next(&p, (double[4]){ 1, 1, 1, 1 }, 0.025), 1, "the middle");
	CHECK_EQ(posterior_next(&p, (double[4]){ 1, 0, 1, 1 }, 0.025), 0, "it was skipped");
	CHECK_EQ(posterior_next(&p, (double[4]){ 1, 0.4, 1, 1 }, 0.025), 0, "it is known better");
	posterior_update(&p, m, 2, 0.03);
	CHECK(fabs(p.p[0] / p.p[2] - odds) < 1e-9 && fabs(p.p[1] - p.p[0]) < 1e-12 &&
		      fabs(p.p[3] - p.p[2]) < 1e-12,
	      "%g %g %g %g", p.p[0], p.p[1], p.p[2], p.p[3]);
	CHECK(fabs(p.p[0] + p.p[1] + p.p[2] + p.p[3] - 1) < 1e-12, "the sum");
	CHECK_EQ(posterior_next(&p, (double[4]){ 1, 1, 1, 1 }, 0.025), 2, "the first of two");
	CHECK_EQ(posterior_next(&p, (double[4]){ 1, 1, 0, 1 }, 0.01), SIZE_MAX,
		 "it cannot be measured, and the others are known");
	posterior_free(&p);
}

/* 0 - 1 - 4 and 0 - 2 - 3 - 4: a merge includes both branches, they do not include each other. */
TEST(branches)
{
	struct posterior_measure m[] = { { 3, 0.03, 0.001 }, { 1, 0, 0.001 }, { 4, 0.03, 0.001 } };
	struct posterior p;

	CHECK(posterior_new(&p, 5), "memory");
	posterior_parent(&p, 1, 0);
	posterior_parent(&p, 2, 0);
	posterior_parent(&p, 3, 2);
	posterior_parent(&p, 4, 1);
	posterior_parent(&p, 4, 3);
	CHECK(posterior_includes(&p, 4, 2) && posterior_includes(&p, 3, 0) &&
		      !posterior_includes(&p, 1, 2) && !posterior_includes(&p, 2, 3),
	      "ancestors");
	posterior_update(&p, m, 3, 0.03);
	CHECK(p.p[2] > 0.45 && p.p[3] > 0.45, "in the branch: %g %g", p.p[2], p.p[3]);
	CHECK_EQ(posterior_next(&p, (double[5]){ 1, 1, 1, 1, 1 }, 0.025), 2, "which of both");
	posterior_free(&p);
}

/* A measurement with a standard deviation of 1 and a long tail. */
static double noise(void)
{
	return random_normal(&state) * (random_uniform(&state) < 0.2 ? 3 : 1) / sqrt(0.8 + 0.2 * 9);
}

/*
 * Searches with noise as large as the step. At the start, only the last commit is measured
 * precisely. Of the searches that end at 95 %, at most 5 % name another commit. Of 300, that is 15,
 * with a standard deviation of 3.8.
 */
TEST(confidence)
{
	enum { COMMITS = 40, TIMES = 300, STEPS_MOST = 2000, END = 12 };
	unsigned wrong = 0, unfinished = 0, steps = 0;

	for (int times = 0; times < TIMES; times++) {
		size_t truth = (size_t)(random_uniform(&state) * COMMITS),
		       measured[COMMITS] = { 0 };
		double sum[COMMITS] = { 0 }, open[COMMITS];
		struct posterior p = line(COMMITS);
		size_t next = COMMITS - 1;

		for (int step = 0; step < STEPS_MOST; step++) {
			struct posterior_measure m[COMMITS];
			size_t n = 0;

			for (int i = 0; i < (step ? 1 : END); i++, measured[next]++)
				sum[next] += (next >= truth ? 0.03 : 0) + 0.03 * noise();
			for (size_t i = 0; i < COMMITS; i++) {
				double number = (double)measured[i];

				open[i] = 100 / (100 + number);
				if (measured[i])
					m[n++] = (struct posterior_measure){ i, sum[i] / number,
									     0.03 / sqrt(number) };
			}
			posterior_update(&p, m, n, m[n - 1].change);
			steps++;
			next = posterior_next(&p, open, 0.025);
			if (p.p[posterior_best(&p)] >= 0.95 || next == SIZE_MAX)
				break;
		}
		unfinished += p.p[posterior_best(&p)] < 0.95;
		wrong += p.p[posterior_best(&p)] >= 0.95 && posterior_best(&p) != truth;
		posterior_free(&p);
	}
	CHECK(unfinished <= 3, "%u did not end", unfinished);
	CHECK(wrong <= 26, "%u of %d are wrong, %g steps each", wrong, TIMES,
	      (double)steps / TIMES);
}

TEST_MAIN()
