/* SPDX-License-Identifier: MIT */
/*
 * Phases of series with known changes: the fraction of detected changes that are right (precision),
 * and of right changes that are detected (recall). A change is right if it is detected within two
 * rows of its place.
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

/* Mean 0 and variance 1. */
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

/*
 * Noise of standard deviation 1 with correlation r between rows; levels differ by `step`, for 40 to
 * 240 rows each.
 */
static void one_series(double r, double step, double spikes, struct score *to)
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
			if (p.segment[s].first + 2 >= change[c] &&
			    p.segment[s].first <= change[c] + 2) {
				to->right++;
				break;
			}
}

TEST(precision_and_recall)
{
	static const struct {
		int line;
		double r, step, spikes;
		unsigned false_most; /* in 40 series */
		double recall;
	} rows[] = {
		/* no changes; noise from independent to a slow drift */
		{ __LINE__, 0, 0, 0, 0, 0 },
		{ __LINE__, 0.3, 0, 0, 0, 0 },
		{ __LINE__, 0.6, 0, 0, 0, 0 },
		{ __LINE__, 0.9, 0, 0, 2, 0 },
		{ __LINE__, 0.97, 0, 0, 6, 0 },
		{ __LINE__, 0, 0, 0.02, 0, 0 },
		/* levels that differ by 10 and 5 times the noise */
		{ __LINE__, 0, 10, 0, 0, 0.99 },
		{ __LINE__, 0, 5, 0, 8, 0.95 },
		{ __LINE__, 0.5, 10, 0, 4, 0.95 },
		{ __LINE__, 0.5, 5, 0, 8, 0.85 },
		/* a spike next to a change shifts it by some rows */
		{ __LINE__, 0, 10, 0.02, 30, 0.9 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct score s = { 0 };

		state = i + 1;
		for (int k = 0; k < 40; k++)
			one_series(rows[i].r, rows[i].step, rows[i].spikes, &s);
		printf("# r %.1f, steps of %.0f, spikes %.2f: %u changes, %u found, %u of them right\n",
		       rows[i].r, rows[i].step, rows[i].spikes, s.changes, s.found, s.right);
		CHECK(s.found - s.right <= rows[i].false_most, "%u are wrong, row at line %d",
		      s.found - s.right, rows[i].line);
		CHECK(s.right >= rows[i].recall * s.changes, "%u of %u found, row at line %d",
		      s.right, s.changes, rows[i].line);
	}
}

TEST_MAIN()
