/* SPDX-License-Identifier: MIT */
/* Divides the counters into sets that are counted in the same runs. */
#ifndef BENCH_BENCH_SETS_H
#define BENCH_BENCH_SETS_H

#include "exact/classes.h"
#include "bench/bench.h"
#include "source/source.h"

struct bench_set {
	enum bench_how how;
	size_t n;        /* counters in the result */
	size_t n_shared; /* counters in the process: the exact engine reads all of its classes */
	size_t counter[BENCH_COUNTERS]; /* index in the result */
	size_t event[BENCH_COUNTERS];   /* index in the plan's list */
	size_t class[BENCH_COUNTERS];   /* of the exact engine */
};

enum { BENCH_SETS = BENCH_COUNTERS + 2 };

struct bench_sets {
	struct bench_set set[BENCH_SETS];
	size_t n, n_counters;
};

/*
 * Puts each of the plan's events into a set, or marks it unavailable in `counter`, in the order in
 * which they are shown: the exact engine's, fixed counters, programmable ones, the kernel's own,
 * the clock. As many per set as fit at the same time, found by trying.
 */
int bench_sets_make(struct bench_sets *s, const struct bench_plan *plan, int cpu,
		    struct bench_counter counter[BENCH_COUNTERS], struct tare_error *err);

#endif
