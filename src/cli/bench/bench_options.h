/* SPDX-License-Identifier: MIT */
/* The options of `tare bench`, parsed into a struct. */
#ifndef CLI_BENCH_BENCH_OPTIONS_H
#define CLI_BENCH_BENCH_OPTIONS_H

#include "bench/bench.h"
#include "cli/common_options.h"
#include "launch/engine.h"
#include "output/options/output_options.h"

enum { BENCH_INCLUDES_MAX = 16 };

enum bench_engine {
	BENCH_ENGINE_AUTO,
	BENCH_ENGINE_PERF,
	BENCH_ENGINE_EXACT,
	BENCH_ENGINE_CLOCK,
	BENCH_ENGINE_MSR
};
enum bench_format { BENCH_PARQUET = FORMAT_OTHER, BENCH_KDB };
enum bench_form { BENCH_FORM_BOTH, BENCH_FORM_WRITTEN, BENCH_FORM_IN_TURN };

struct bench_options {
	struct event_options events;
	enum bench_engine engine;
	struct msr_how msr;

	const char *code[BENCH_VARIANTS]; /* --asm and --c */
	bool is_c[BENCH_VARIANTS];
	size_t n_code;
	const char *init;
	const char *include[BENCH_INCLUDES_MAX];
	size_t n_include;
	uint64_t unroll, loop; /* unroll 0: 100 for assembly, 1 for C */
	bool loop_given;
	enum bench_form form;
	int att; /* -1: detected */
	const char *function, *cc, *cflags;

	uint64_t runs, warmup, baselines /* 0: same as runs, and 100 */, seed, ops, bytes,
		timeout_ns;
	bool shuffle, aslr, all, cross_check;
	struct determinism fixed; /* its set: the items that are the same in each process */
	bool deterministic;
	int cpu;
	enum bench_cold cold;
	const char *check; /* an event; "": any */

	struct output_options out;
	int inside; /* the descriptor that tare passes to its child; -1 */
};

#define BENCH_OPTIONS_INIT                                                                         \
	{                                                                                          \
		.runs = 100, .warmup = 10, .cpu = -1, .att = -1, .inside = -1,                     \
		.timeout_ns = 60000000000, .fixed = {                                              \
			.set = FIXED_LAYOUT                                                        \
		}                                                                                  \
	}

extern const struct option_row bench_option_rows[];
int bench_options_check(const struct bench_options *o, size_t n_files, struct tare_error *err);
void bench_options_free(struct bench_options *o);

#endif
