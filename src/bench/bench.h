/* SPDX-License-Identifier: MIT */
/*
 * A piece of code is run many times between two marks (arch/mark.h), and each run's counts are kept: plan -> a process of
 * its own per set of counters (bench_inside.c) -> runs. What does not fit on the counters at once is counted in runs of its
 * own, never in turns.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include "pmu/pmu.h"
#include "launch/fixed.h"
#include "msr/msr.h"
#include "tare/bench.h"
#include "tare/reading.h"

enum { BENCH_VARIANTS = 8, BENCH_COUNTERS = 64, BENCH_RUNS_MAX = 1000000, BENCH_PATH = 4096 };

enum bench_cold { BENCH_WARM, BENCH_FLUSH, BENCH_EVICT };

/* One test: a shared object, a function in one, or a program (tare_bench_main). */
struct bench_variant {
	const char *name;     /* as shown */
	const char *path;
	const char *function; /* call this instead of execute_test(); or NULL */
	bool program;	      /* start it, rather than load it */
	uint64_t ops;	      /* of one run; 0: as the test says */
	uint64_t bytes;	      /* likewise */
	/* For the clock: the same code `rounds` times, in the place of `path`; NULL: `path`. */
	const char *looped;
	uint32_t rounds;
};

struct bench_plan {
	const struct bench_variant *variant;
	size_t n_variants;
	uint32_t runs, warmup, baselines;
	bool shuffle; /* the order of variants in each round by `seed`, else A B B A */
	uint64_t seed;
	int cpu; /* -1: the one tare runs on; -2: any */
	enum bench_cold cold;
	uint64_t timeout_ns; /* of one run */
	struct fixed *fixed; /* what is the same in each process; NULL: nothing. What is missed is noted there */
	const struct encoding_list *events; /* by the perf source and the exact engine; unavailable ones too */
	const struct msr_how *msr; /* events of the source "msr": by which way; NULL: there are none. Takes a CPU */
	bool cross; /* events stand in the list twice, by msr and by perf, whose counters are named "... by perf"; sets take turns */
	bool asked; /* for events or an engine: the clock alone is no answer */
	bool clock; /* the time stamp counter, or generic timer, too */
	/* With the clock: estimate cycles (bench_chain.h), on one CPU where no event counts them. */
	bool estimate;
	const char *self; /* tare's own path: it loads the tests in another process */
	void (*progress)(void *with, double part); /* how much is done, of 1, some twenty times a second; NULL: no progress */
	void *with;
};

enum bench_how { BENCH_EXACT, BENCH_REGISTER, BENCH_READ, BENCH_CLOCK, BENCH_MSR, BENCH_CHAIN };

struct bench_counter {
	char name[160];
	enum bench_how how;
	/* TARE_UNAVAILABLE: `why`. BENCH_CHAIN: TARE_SCALED; bench_quality() has the name. */
	enum tare_quality quality;
	char why[256], remedy[200];
	unsigned set;	/* counters of the same number were counted in the same runs */
	uint32_t again; /* runs of its set that were done again, as the kernel had moved a counter meanwhile */
};

#if defined(__x86_64__)
#define BENCH_CLOCK_NAME "tsc"
#else
#define BENCH_CLOCK_NAME "cntvct"
#endif
#define BENCH_BY_PERF " by perf" /* behind a name, with plan.cross */

/* Verdicts cut the runs along time into stretches: so many, but none of fewer runs. */
enum { BENCH_STRETCHES = 20, BENCH_STRETCH_LEAST = 5, BENCH_COMPARED_LEAST = 2 * BENCH_STRETCH_LEAST };

/* With plan.cross the sets take turns by the same stretches, so that a drift is in all alike. Else there is one, of all runs. */
struct bench_stretch {
	uint32_t run, end;	 /* runs run..end-1 */
	uint32_t base, base_end; /* and these baselines */
};
size_t bench_stretches(const struct bench_plan *p);
struct bench_stretch bench_stretch(const struct bench_plan *p, size_t i);

/* What one counter saw of one variant. */
struct bench_series {
	int64_t *base;	/* of one pair of marks with nothing between; plan.baselines of them */
	/* Of run i, all pairs added up, as read: nothing taken off. BENCH_CHAIN: in cycles, rounded. */
	int64_t *value;
};

struct bench_result {
	struct bench_counter counter[BENCH_COUNTERS];
	size_t n_counters;
	struct bench_series *series; /* [variant * n_counters + counter] */
	uint32_t *order;  /* runs * variants numbers of variants, in the order they ran; in every set the same */
	uint32_t *pairs;  /* [variant * runs + run] */
	uint64_t ops[BENCH_VARIANTS]; /* of one run; 0: pairs of marks */
	uint64_t bytes[BENCH_VARIANTS];
	uint32_t rounds[BENCH_VARIANTS]; /* over the code in a run of the clock, each of `ops` */
	bool own_baseline[BENCH_VARIANTS];
	uint64_t clock_hz; /* of the clock, as measured against CLOCK_MONOTONIC; 0: not known */
	double clock_step; /* ticks by which it moves on at a time (base/clock_step.h); 0: not known */
	uint32_t chain_adds; /* additions in the chain, one cycle each; 0: none was timed */
	double chain_ticks; /* of the clock, the median */
	double chain_spread; /* half of the distance from their 10th to their 90th percentile */
	int cpu; /* that they ran on; -1: any */
	uint64_t said; /* bytes that tests wrote to standard output */
	char words[80]; /* the first of them */
	int by_signal; /* tare was asked to end */
};

/* What stands behind an error of bench_run(). */
enum bench_blame { BENCH_NOBODY, BENCH_TEST /* crashed, never stopped, ... */, BENCH_OBJECT /* cannot be loaded, lacks a symbol */ };

/*
 * bench_free() after use, also after an error. -ECANCELED: a signal, result->by_signal. The test runs in a process of its own,
 * which is gone when this returns, however it behaved; so are its children.
 */
int bench_run(const struct bench_plan *plan, struct bench_result *result, enum bench_blame *blame, struct tare_error *err);
void bench_free(struct bench_result *r, const struct bench_plan *plan);

/* In that process: `fd` is the board. `test` NULL: those that the board names. */
int bench_inside(int fd, const struct tare_bench_test *test, struct tare_error *err);

#endif
