/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "base/clock_step.h"
#include "base/error.h"
#include "tap.h"

/* A simulated clock: true time advances, and is shown in whole ticks of whole steps. */
struct clock {
	double time, step;
	unsigned jitter;    /* a reading is off by up to this, in both directions */
	double least, most; /* duration of a reading */
	/* after that many readings, another CPU's clock, a few ticks off; 0: never */
	double missed;
	uint64_t seed, readings;
};

static double chance(struct clock *c)
{
	c->seed ^= c->seed << 13;
	c->seed ^= c->seed >> 7;
	c->seed ^= c->seed << 17;
	return (double)(c->seed >> 11) / 9007199254740992.0;
}

static uint64_t shown(void *data)
{
	struct clock *c = data;
	uint64_t now;

	c->time += c->least + (c->most - c->least) * chance(c);
	if (chance(c) < 0.001)
		c->time += 30000; /* an interrupt */
	now = (uint64_t)(floor(c->time / c->step) * c->step);
	if (c->jitter)
		now += (uint64_t)(chance(c) * (2 * c->jitter + 1)) - c->jitter;
	c->readings++;
	return c->missed > 0 && (double)c->readings > c->missed ? now + 11 : now;
}

TEST(clock_step_of_clocks_that_step)
{
	static const struct {
		int line;
		struct clock c;
		double step, by;
	} rows[] = {
		{ __LINE__, { .step = 1, .least = 20, .most = 60 }, 1, 0 },
		{ __LINE__, { .step = 1, .least = 24, .most = 31 }, 1, 0 },
		{ __LINE__, { .step = 1, .least = 0.1, .most = 0.7 }, 1, 0 }, /* a slow timer */
		{ __LINE__, { .step = 1, .jitter = 1, .least = 20, .most = 60 }, 1, 0 },
		{ __LINE__, { .step = 2, .least = 20, .most = 60 }, 2, 0 },
		{ __LINE__, { .step = 26, .least = 20, .most = 60 }, 26, 0 },
		{ __LINE__, { .step = 26, .least = 8, .most = 12 }, 26, 0 },
		{ __LINE__, { .step = 1000, .least = 8, .most = 12 }, 1000, 0 },
		{ __LINE__, { .step = 24.46, .least = 20, .most = 60 }, 24.46, 0.02 },
		{ __LINE__, { .step = 24.46, .least = 70, .most = 75 }, 24.46, 0.02 },
		{ __LINE__, { .step = 24.46, .least = 8, .most = 12 }, 24.46, 0.02 },
		{ __LINE__, { .step = 24.46, .least = 300, .most = 900 }, 24.46, 0.02 },
		{ __LINE__,
		  { .step = 24.46, .least = 20, .most = 60, .missed = 100 },
		  24.46,
		  0.02 },
		{ __LINE__, { .step = 33.33, .least = 20, .most = 60 }, 33.33, 0.02 },
		{ __LINE__, { .step = 33.33, .jitter = 1, .least = 20, .most = 60 }, 33.33, 0.05 },
		{ __LINE__, { .step = 24.46, .jitter = 1, .least = 20, .most = 60 }, 24.46, 0.05 },
		{ __LINE__, { .step = 26, .jitter = 1, .least = 20, .most = 60 }, 26, 0.05 },
		{ __LINE__, { .step = 4.7, .least = 20, .most = 60 }, 4.7, 0.01 },
		{ __LINE__,
		  { .step = 3.33, .least = 20, .most = 60 },
		  1,
		  0 }, /* too close to what rounding alone produces */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (uint64_t seed = 1; seed <= 20; seed++) {
			struct clock c = rows[i].c;
			double step;

			c.seed = seed * 88172645463325252u;
			c.time = 1e9;
			step = clock_step(shown, &c);
			CHECK(fabs(step - rows[i].step) <= rows[i].by,
			      "row at line %d, seed %d: %g", rows[i].line, (int)seed, step);
		}
}

static uint64_t stands(void *data)
{
	return *(uint64_t *)data;
}

TEST(clock_step_of_a_clock_that_stands)
{
	uint64_t at = 77;

	CHECK(clock_step(stands, &at) == 0, "%g", clock_step(stands, &at));
}

TEST(clock_step_of_few_readings)
{
	static const struct {
		int line;
		uint64_t v[12];
		double low, high;
	} rows[] = {
		{ __LINE__, { 0 }, 0, 0 },
		{ __LINE__, { 0, CLOCK_STEP_FAR + 1 }, 0, 0 },
		{ __LINE__, { 0, 73 }, 73, 73 }, /* of a single value: its size */
		{ __LINE__, { 260, 52 }, 52, 52 },
		{ __LINE__, { 73, 49, 74 }, 24.33, 24.75 },
		{ __LINE__, { 123, 49, 73, 74, 98, 122 }, 24.4, 24.6 },
		{ __LINE__, { 49, 73, 74, 98, 122, CLOCK_STEP_FAR + 13 }, 24.4, 24.6 },
		{ __LINE__, { 52, 78, 104, 26, 260, 26 * 4001 }, 26, 26 },
		{ __LINE__, { 20, 21, 23, 26, 30, 35, 41, 48, 56, 65, 75, 86 }, 1, 1 },
		{ __LINE__, { 18, 20, 24, 26, 28, 22 }, 2, 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t v[12];
		double step;

		memcpy(v, rows[i].v, sizeof(v));
		step = clock_step_of(v, 12);
		CHECK(step >= rows[i].low && step <= rows[i].high, "row at line %d: %g",
		      rows[i].line, step);
	}
}

TEST_MAIN()
