/* SPDX-License-Identifier: MIT */
/*
 * Conversion of ticks to cycles. The chain's time is not tested, as it depends on the machine's
 * load.
 */
#include "chain.h"
#include "bench/bench_chain.h"
#include "tap.h"

TEST(chain_cycles)
{
	CHECK_EQ(bench_chain_cycles(300, 20000, 40000), 600);
	CHECK_EQ(bench_chain_cycles(0, 20000, 40000), 0);
	CHECK_EQ(bench_chain_cycles(1, 3, 4), 1, "1.33");
	CHECK_EQ(bench_chain_cycles(1, 3, 5), 2, "1.67");
	CHECK_EQ(bench_chain_cycles(3000000000, 30000, 40000), 4000000000, "more than 32 bits");
	CHECK_EQ(bench_chain_cycles(300, 0, 40000), -1, "a clock that stood still");
	CHECK_EQ(bench_chain_cycles(300, -5, 40000), -1);
	CHECK_EQ(bench_chain_cycles(-1, 20000, 40000), -1);
	CHECK_EQ(bench_chain_cycles(INT64_MAX, 1, UINT32_MAX), -1, "no 64 bits hold it");
}

TEST(chain_is_as_long_as_the_clock_needs)
{
	struct bench_chain fine, coarse;

	bench_chain_begin(&fine, 0);
	CHECK(fine.rounds >= 158, "%u rounds", fine.rounds);
	CHECK_EQ(bench_chain_adds(&fine), fine.rounds * CHAIN_ADDS);
	CHECK(bench_chain_ticks(&fine) > 0, "time passes");
	bench_chain_begin(&coarse, 1e12);
	CHECK_EQ(coarse.rounds, 158 << 6, "it has an end");
}

TEST_MAIN()
