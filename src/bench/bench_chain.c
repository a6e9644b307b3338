/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "chain.h"
#include "bench/bench_chain.h"
#include "tare/pmc.h"

/*
 * A chain of SHORT rounds has the same overhead as the long one: the readings, the end of the loop.
 */
enum { SHORT = 2, LEAST = 158, MOST = LEAST << 6, STEPS = 1000, TRIES = 20 };

static uint64_t ticks_of(uint32_t rounds)
{
	uint64_t from, to;

	tare_pmc_fence();
	from = tare_pmc_clock();
	tare_pmc_fence();
	chain_run(rounds);
	tare_pmc_fence();
	to = tare_pmc_clock();
	tare_pmc_fence();
	return to - from;
}

int64_t bench_chain_ticks(const struct bench_chain *c)
{
	chain_run(1); /* load it into the caches */
	for (int i = 0; i < TRIES; i++) {
		int64_t less = (int64_t)ticks_of(SHORT),
			more = (int64_t)ticks_of(SHORT + c->rounds);

		if (more > less) /* the short chain was not delayed by an interrupt */
			return more - less;
	}
	return 0;
}

void bench_chain_begin(struct bench_chain *c, double step)
{
	c->rounds = LEAST;
	while (c->rounds < MOST && (double)bench_chain_ticks(c) < STEPS * fmax(1, step))
		c->rounds *= 2;
}

uint32_t bench_chain_adds(const struct bench_chain *c)
{
	return c->rounds * CHAIN_ADDS;
}

int64_t bench_chain_cycles(int64_t ticks, int64_t chain_ticks, uint32_t adds)
{
	double cycles;

	if (ticks < 0 || chain_ticks <= 0)
		return -1;
	cycles = rint((double)ticks / (double)chain_ticks * adds);
	return cycles < 0x1p62 ? (int64_t)cycles : -1;
}
