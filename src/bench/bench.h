/* SPDX-License-Identifier: MIT */
/*
 * Runs a piece of code many times between two marks (arch/mark.h) and keeps each run's counts: plan
 * -> a process per set of counters (bench_inside.c) -> runs. Counters that do not fit at the same
 * time are counted in separate runs, never multiplexed.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include "pmu/pmu.h"
#include "launch/determinism.h"
#include "msr/msr.h"
#include "tare/bench.h"
#include "tare/reading.h"

enum { BENCH_VARIANTS = 8, BENCH_COUNTERS = 64, BENCH_RUNS_MAX = 1000000, BENCH_PATH = 4096 };

enum bench_cold { BENCH_WARM, BENCH_FLUSH, BENCH_EVICT };

/* One test: a shared object, a function in one, or a program (tare_bench_main). */
struct bench_variant {
	const char *name; /* as shown */
	const char *path;
	const char *function; /* call this function instead of execute_test(); or NULL */
	bool program;         /* execute it, rather than load it */
	uint64_t ops;         /* per run; 0: given by the test */
	uint64_t bytes;       /* per run; 0: given by the test */
	/*
	 * For the clock: a build of the same code with `rounds` rounds, used instead of `path`;
	 * NULL: `path`.
	 */
	const char *looped;
	uint32_t rounds;
};

struct bench_plan {
	const struct bench_variant *variant;
	size_t n_variants;
	uint32_t runs, warmup, baselines;
	/* random order of the variants in each round, from `seed`; otherwise A B B A */
	bool shuffle;
	uint64_t seed;
	int cpu; /* -1: the one that tare runs on; -2: any */
	enum bench_cold cold;
	uint64_t timeout_ns; /* per run */
	/* the fixed items; NULL: none. Failures are recorded there */
	struct determinism *fixed;
	/* for the perf source and the exact engine; also unavailable ones */
	const struct encoding_list *events;
	/*
	 * for events of the source "msr": the way to registers; NULL: no such events. Needs a CPU
	 */
	const struct msr_how *msr;
	/*
	 * each event is in the list twice, by msr and by perf, with counter names "... by perf";
	 * sets alternate
	 */
	bool cross;
	bool asked; /* events or an engine were requested: the clock alone is not enough */
	bool clock; /* also the time stamp counter, or generic timer */
	/*
	 * With the clock: estimate cycles (bench_chain.h), if on one CPU and no event counts them.
	 */
	bool estimate;
	const char *self; /* tare's own executable, which loads the tests in another process */
	/*
	 * called about twenty times per second with the part that is done, up to 1; NULL: no
	 * progress
	 */
	void (*progress)(void *with, double part);
	void *with;
};

enum bench_how { BENCH_EXACT, BENCH_REGISTER, BENCH_READ, BENCH_CLOCK, BENCH_MSR, BENCH_CHAIN };

struct bench_counter {
	char name[160];
	enum bench_how how;
	/* TARE_UNAVAILABLE: see `why`. BENCH_CHAIN: TARE_SCALED; bench_quality() has the name. */
	enum tare_quality quality;
	char why[256], remedy[200];
	unsigned set; /* counters with the same number were counted in the same runs */
	/* number of runs of its set that were repeated, as the kernel had moved a counter */
	uint32_t again;
};

#if defined(__x86_64__)
#define BENCH_CLOCK_NAME "tsc"
#else
#define BENCH_CLOCK_NAME "cntvct"
#endif
#define BENCH_BY_PERF " by perf" /* suffix of a name, with plan.cross */

/* Verdicts divide the runs by time into stretches: this many, each with at least this many runs. */
enum {
	BENCH_STRETCHES = 20,
	BENCH_STRETCH_LEAST = 5,
	BENCH_COMPARED_LEAST = 2 * BENCH_STRETCH_LEAST
};

/*
 * With plan.cross the sets alternate by the same stretches, so that a drift affects all equally.
 * Otherwise there is one stretch with all runs.
 */
struct bench_stretch {
	uint32_t run, end;       /* runs run..end-1 */
	uint32_t base, base_end; /* and baselines base..base_end-1 */
};
size_t bench_stretches(const struct bench_plan *p);
struct bench_stretch bench_stretch(const struct bench_plan *p, size_t i);

/* The values of one counter for one variant. */
struct bench_series {
	int64_t *base; /* per pair of marks without code between them; plan.baselines of them */
	/*
	 * Per run, the sum over all pairs, as read: nothing is subtracted. BENCH_CHAIN: in cycles,
	 * rounded.
	 */
	int64_t *value;
};

struct bench_result {
	struct bench_counter counter[BENCH_COUNTERS];
	size_t n_counters;
	struct bench_series *series; /* [variant * n_counters + counter] */
	/* runs * variants indices of variants, in the order they ran; the same in every set */
	uint32_t *order;
	uint32_t *pairs;              /* [variant * runs + run] */
	uint64_t ops[BENCH_VARIANTS]; /* per run; 0: the pairs of marks */
	uint64_t bytes[BENCH_VARIANTS];
	/* repetitions of the code in a run for the clock, each of `ops` */
	uint32_t rounds[BENCH_VARIANTS];
	bool own_baseline[BENCH_VARIANTS];
	uint64_t clock_hz; /* the clock's frequency, measured against CLOCK_MONOTONIC; 0: unknown */
	double clock_step; /* the clock's step in ticks (base/clock_step.h); 0: unknown */
	uint32_t chain_adds; /* additions in the chain, one cycle each; 0: no chain was timed */
	double chain_ticks;  /* median, in ticks of the clock */
	double chain_spread; /* half the distance from the 10th to the 90th percentile */
	int cpu;             /* CPU of the runs; -1: any */
	uint64_t said;       /* number of bytes that tests wrote to standard output */
	char words[80];      /* the first ones */
	int by_signal;       /* the signal that asked tare to end */
};

/* The cause of a bench_run() error. */
enum bench_blame {
	BENCH_NOBODY,
	BENCH_TEST /* crashed, never stopped, ... */,
	BENCH_OBJECT /* cannot be loaded */
};

/*
 * Call bench_free() after use, also after an error. -ECANCELED: a signal, see result->by_signal.
 * The test runs in a process of its own, which has ended when this returns, with its children,
 * however it behaved.
 */
int bench_run(const struct bench_plan *plan, struct bench_result *result, enum bench_blame *blame,
	      struct tare_error *err);
void bench_free(struct bench_result *r, const struct bench_plan *plan);

/*
 * Runs in that process: `fd` is the shared state. `test` NULL: those that the shared state names.
 */
int bench_inside(int fd, const struct tare_bench_test *test, struct tare_error *err);

#endif
