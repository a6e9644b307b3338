/* SPDX-License-Identifier: MIT */
/*
 * Phases of series whose changes are known: how many of those found are right (precision), how many of the right ones
 * are found (recall). A change is found when it is said within two rows of where it is.
 */
#include <math.h>
#include "windows/phases.h"
#include "tap.h"

static uint64_t state;

static double uniform(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (double)(state >> 11) / 9007199254740992.0;
}

/* Of mean 0 and variance 1. */
static double bell(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += uniform();
	return sum - 6;
}

struct score {
	unsigned changes, found, right;
};

enum { N = 1500 };

/* Noise of standard deviation 1 that correlates by r from row to row; levels `step` apart, for 40 to 240 rows each. */
static void one(double r, double step, double spikes, struct score *to)
{
	static double v[N];
	static struct phases p;
	size_t change[N], changes = 0, next = step > 0 ? 40 + (size_t)(uniform() * 200) : N;
	double level = 50, drift = bell();

	for (size_t i = 0; i < N; i++) {
		drift = r * drift + sqrt(1 - r * r) * bell();
		if (i == next && N - i > 40) {
			level += level > 50 ? -step : step;
			change[changes++] = i;
			next = i + 40 + (size_t)(uniform() * 200);
		}
		v[i] = level + drift + (uniform() < spikes ? 20 : 0);
	}
	CHECK_EQ(phases_find(v, N, 1, &p, NULL), 0);
	to->changes += (unsigned)changes;
	to->found += (unsigned)p.segments - 1;
	for (size_t s = 1; s < p.segments; s++)
		for (size_t c = 0; c < changes; c++)
			if (p.segment[s].first + 2 >= change[c] && p.segment[s].first <= change[c] + 2) {
				to->right++;
				break;
			}
}

TEST(precision_and_recall)
{
	static const struct {
		int line;
		double r, step, spikes;
		unsigned false_most; /* of 40 series */
		double recall;
	} rows[] = {
		/* nothing changes, and the noise is anything between independent and a slow drift */
		{ __LINE__, 0, 0, 0, 0, 0 },
		{ __LINE__, 0.3, 0, 0, 0, 0 },
		{ __LINE__, 0.6, 0, 0, 0, 0 },
		{ __LINE__, 0.9, 0, 0, 2, 0 },
		{ __LINE__, 0.97, 0, 0, 6, 0 },
		{ __LINE__, 0, 0, 0.02, 0, 0 },
		/* levels 10 and 5 times the noise apart */
		{ __LINE__, 0, 10, 0, 0, 0.99 },
		{ __LINE__, 0, 5, 0, 8, 0.95 },
		{ __LINE__, 0.5, 10, 0, 4, 0.95 },
		{ __LINE__, 0.5, 5, 0, 8, 0.85 },
		/* a spike beside a change shifts it by some rows */
		{ __LINE__, 0, 10, 0.02, 30, 0.9 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct score s = { 0 };

		state = i + 1;
		for (int k = 0; k < 40; k++)
			one(rows[i].r, rows[i].step, rows[i].spikes, &s);
		printf("# r %.1f, steps of %.0f, spikes %.2f: %u changes, %u found, %u of them right\n", rows[i].r,
		       rows[i].step, rows[i].spikes, s.changes, s.found, s.right);
		CHECK(s.found - s.right <= rows[i].false_most, "%u are none, row at line %d", s.found - s.right,
		      rows[i].line);
		CHECK(s.right >= rows[i].recall * s.changes, "%u of %u are found, row at line %d", s.right, s.changes,
		      rows[i].line);
	}
}

TEST_MAIN()
