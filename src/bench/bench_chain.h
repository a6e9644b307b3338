/* SPDX-License-Identifier: MIT */
/*
 * Cycles without a counter: the clock times a chain of additions, one cycle each (arch/chain.h),
 * alternating with the runs of a test. So cycles of a run = its ticks x additions / ticks of the
 * chain.
 */
#ifndef BENCH_BENCH_CHAIN_H
#define BENCH_BENCH_CHAIN_H

#include <stdint.h>

struct bench_chain {
	uint32_t rounds;
};

/* Select the length of the chain: at least a thousand steps of the clock, given in ticks. */
void bench_chain_begin(struct bench_chain *c, double step);
/* Number of additions that bench_chain_ticks() times. */
uint32_t bench_chain_adds(const struct bench_chain *c);
/* Ticks of the chain now, without the overhead of the readings; 0: the clock did not advance. */
int64_t bench_chain_ticks(const struct bench_chain *c);

/* Convert ticks to cycles, rounded; -1: out of range. */
int64_t bench_chain_cycles(int64_t ticks, int64_t chain_ticks, uint32_t adds);

#endif
