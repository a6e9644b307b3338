/* SPDX-License-Identifier: MIT */
/* Repeats an assembly snippet for so many rounds that one clock step is less than 1 % of a run. */
#ifndef CLI_BENCH_BENCH_ROUNDS_H
#define CLI_BENCH_BENCH_ROUNDS_H

#include "bench/cost.h"
#include "cli/bench/bench_tests.h"

enum { BENCH_STEPS_LEAST = 100 };

/* The rounds needed for a run a fifth longer than that; `ticks` is the time of one round. */
uint64_t bench_rounds_of(double ticks, double step);

/*
 * Does the code take the same time per operation in several rounds as in one, within the interval
 * of `one`? It may not if a round continues with the last round's pointers or values.
 */
bool bench_rounds_agree(const struct bench_stat *one, const struct bench_stat *many, uint64_t ops);

/*
 * Times each such snippet with the clock and chooses its rounds. A snippet gets one round if more
 * rounds crash it or change its time. -ECANCELED: a signal, *by_signal.
 */
int bench_rounds_choose(struct bench_tests *t, const struct bench_options *o,
			const struct bench_plan *plan, int *by_signal, struct tare_error *err);

#endif
