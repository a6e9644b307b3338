/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "cli/bench/bench_rounds.h"
#include "tap.h"

TEST(rounds_of_a_run)
{
	CHECK_EQ(bench_rounds_of(2600, 26), 1, "a step is 1 %%");
	CHECK_EQ(bench_rounds_of(2599, 26), 2);
	CHECK_EQ(bench_rounds_of(208, 26), 15, "3120 ticks are 120 steps");
	CHECK_EQ(bench_rounds_of(100, 1), 1);
	CHECK_EQ(bench_rounds_of(20, 1), 6);
	CHECK_EQ(bench_rounds_of(0, 26), 960, "shorter than the resolution: an eighth of a step");
	CHECK_EQ(bench_rounds_of(-26, 26), 960);
}

TEST(rounds_that_take_another_time)
{
	struct bench_stat one = { .value = 2, .low = 1.6, .high = 2.4 }, many = { .value = 2.1 };

	CHECK(bench_rounds_agree(&one, &many, 100), "within the interval");
	many.value = 2.7;
	CHECK(bench_rounds_agree(&one, &many, 100),
	      "30 ticks at the end of a run are not the code's");
	many.value = 2.8;
	CHECK(!bench_rounds_agree(&one, &many, 100), "slower: pointers that leave the caches");
	many.value = 1.2;
	CHECK(!bench_rounds_agree(&one, &many, 100), "faster: values that became 0");
	many.value = 1.3;
	CHECK(bench_rounds_agree(&one, &many, 100),
	      "faster, within the interval and the end of a run");
	one.low = one.high = NAN;
	CHECK(!bench_rounds_agree(&one, &many, 100), "nothing is known");
}

TEST_MAIN()
