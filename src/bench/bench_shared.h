/* SPDX-License-Identifier: MIT */
/*
 * Memory file shared by tare and the process that runs tests. tare writes the task, and the process
 * its results as it proceeds, so that they survive if it is killed. The tests can write to all of
 * it: tare reads only numbers from it, and checks them against its own bounds.
 *
 *	struct bench_shared
 *	u32 order[runs * variants]
 *	u32 pairs[variants * runs]
 *	i64 value[variants * runs * counters]
 *	i64 base[variants * baselines * counters]
 *	i64 chain[variants * runs]
 *	i64 base_chain[variants * baselines]
 */
#ifndef BENCH_BENCH_SHARED_H
#define BENCH_BENCH_SHARED_H

#include "arch/mark.h"
#include "exact/classes.h"
#include "bench/bench.h"

#define BENCH_MAGIC 0x33686e6265726174ull /* "tarebnh3" */
#define BENCH_WORD  "--tare-bench"

enum bench_stage {
	STAGE_BEGIN,
	STAGE_LOAD,
	STAGE_SETUP,
	STAGE_BASELINE,
	STAGE_WARMUP,
	STAGE_RUN,
	STAGE_TEARDOWN,
	STAGE_DONE
};

/* Errors of the process; tare has the messages. */
enum bench_fault {
	FAULT_NONE,
	FAULT_WORDS, /* in `what` and `hint` */
	FAULT_SYMBOL,
	FAULT_NO_MARKS,
	FAULT_ORDER, /* start after start, or stop before start */
	FAULT_OPEN,  /* start without stop */
	FAULT_PAIRS,
	FAULT_FORKED,
	FAULT_LONGJMP,
	FAULT_CRASH,
	FAULT_MOVED, /* the kernel moved a counter in every attempt: read by system calls instead */
	FAULT_SHARED, /* another program took the counters */
	FAULT_THREAD, /* a negative count: start and stop were called by different threads */
};

struct bench_shared {
	uint64_t magic;
	/* The task. */
	uint32_t variants, runs, warmup, baselines, counters, how, cold, by_read, chain;
	struct {
		char path[BENCH_PATH];
		char function[256];
		uint64_t ops, bytes;
	} variant[BENCH_VARIANTS];
	struct encoding event[MARK_COUNTERS];
	/* With BENCH_MSR: the CPU, and its registers. */
	int32_t cpu;
	uint32_t maker, counter[MARK_COUNTERS];
	uint64_t mask;
	char via[32], root[256];
	/* The results. */
	volatile uint64_t progress;       /* incremented with every run */
	volatile uint32_t stage, of, run; /* position: the variant, its run */
	volatile uint32_t fault, blame, again;
	uint32_t code; /* errno */
	int32_t signal;
	uint32_t no_address; /* not 0: SIGSEGV, but not because of an unmapped address */
	uint64_t address;
	char what[256], hint[200];
	uint64_t ops[BENCH_VARIANTS], bytes[BENCH_VARIANTS];
	uint32_t own_baseline[BENCH_VARIANTS];
	uint64_t clock_hz;
	double clock_step;
	uint32_t chain_adds; /* additions in a chain; its ticks follow the baselines */
};

struct bench_places {
	uint32_t *order, *pairs;
	int64_t *value, *base, *chain, *base_chain;
	size_t size; /* total */
};

static inline size_t bench_shared_head(void)
{
	return (sizeof(struct bench_shared) + 63) & ~(size_t)63;
}

static inline size_t bench_shared_size(size_t variants, size_t runs, size_t baselines,
				       size_t counters)
{
	return bench_shared_head() + 2 * runs * variants * sizeof(uint32_t) +
		sizeof(int64_t) * variants * (counters + 1) * (runs + baselines);
}

static inline struct bench_places bench_places(struct bench_shared *b, size_t variants, size_t runs,
					       size_t baselines, size_t counters)
{
	struct bench_places p;
	size_t at = bench_shared_head();

	p.order = (uint32_t *)((char *)b + at);
	p.pairs = p.order + runs * variants;
	at += 2 * runs * variants * sizeof(uint32_t);
	p.value = (int64_t *)((char *)b + at);
	p.base = p.value + variants * runs * counters;
	p.chain = p.base + variants * baselines * counters;
	p.base_chain = p.chain + variants * runs;
	p.size = bench_shared_size(variants, runs, baselines, counters);
	return p;
}

/* Index of the i-th run or baseline of variant v, first counter. */
static inline size_t bench_cell(size_t v, size_t i, size_t per_variant, size_t counters)
{
	return (v * per_variant + i) * counters;
}

#endif
