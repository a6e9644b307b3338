/* SPDX-License-Identifier: MIT */
/* Rounds over a snippet of assembly: so many that a step of the clock is less than 1 % of a run. */
#ifndef CLI_BENCH_BENCH_ROUNDS_H
#define CLI_BENCH_BENCH_ROUNDS_H

#include "bench/cost.h"
#include "cli/bench/bench_tests.h"

enum { BENCH_STEPS_LEAST = 100 };

/* Rounds that a run needs for a fifth more than that; `ticks` are those of one. */
uint64_t bench_rounds_of(double ticks, double step);

/*
 * Does the code take the same time per operation in several rounds as in one, within the
 * interval of `one`? It may not if a round continues with the pointers or values of the last.
 */
bool bench_rounds_agree(const struct bench_stat *one, const struct bench_stat *many, uint64_t ops);

/*
 * Time each such snippet by the clock, and choose its rounds. A snippet that crashes or takes
 * another time with more rounds has one. -ECANCELED: a signal, *by_signal.
 */
int bench_rounds_choose(struct bench_tests *t, const struct bench_options *o,
			const struct bench_plan *plan, int *by_signal, struct tare_error *err);

#endif
