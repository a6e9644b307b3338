/* SPDX-License-Identifier: MIT */
/*
 * The times of the runs of two sides: how much of a difference a drift of the machine can explain.
 */
#ifndef STATISTICS_DRIFT_H
#define STATISTICS_DRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct drift {
	bool blocks; /* a drift can make more of a difference than independent noise does */
	/*
	 * variance of the difference of the means, divided by the pooled variance of the runs, of a
	 * drift
	 */
	double ratio;
	double df; /* degrees of freedom of that pooled variance, of a drift */
};

/*
 * A drift is a random walk: its variance grows with the time between two runs. If all runs of one
 * side precede the other's, the runs of a side show little of the drift, but the means differ by
 * all of it. Interleaved runs show as much of it as their means differ by. start_ns: of n_a runs,
 * then of n_b; if one is 0 (unknown), assume this order and equal distances. false: out of memory.
 */
bool drift_of(struct drift *d, const uint64_t *start_ns, size_t n_a, size_t n_b);

#endif
