/* SPDX-License-Identifier: MIT */
/* The options of `tare record`, parsed into a struct. */
#ifndef CLI_SAMPLES_RECORD_OPTIONS_H
#define CLI_SAMPLES_RECORD_OPTIONS_H

#include "cli/common_options.h"
#include "pmu/precise.h"
#include "launch/determinism.h"
#include "launch/engine.h"
#include "sample/sample_attr.h"

enum { DEFAULT_FREQUENCY = 4000 };

struct record_options {
	struct event_options events;
	bool rate_given, frequency_most;
	struct sample_how how;
	bool all_user, all_kernel;

	const char *pids, *tids;
	bool all_cpus;
	struct cpus cpus;
	uint64_t timeout_ns, delay_ns, size_most;
	enum engine_wish engine;
	bool precise, no_jitter, alloc, deterministic;
	struct determinism fixed;
	struct precise_question precise_of;

	size_t ring_bytes, aux_bytes; /* 0: chosen automatically */
	bool clock_given;
	int compress;
	bool no_build_ids, quiet;
	const char *output;
};

#define RECORD_OPTIONS_INIT                                                                        \
	{                                                                                          \
		.how = { .frequency = DEFAULT_FREQUENCY,                                           \
			 .inherit = true,                                                          \
			 .clockid = 1 /* CLOCK_MONOTONIC */ },                                     \
		.output = "perf.data"                                                              \
	}

extern const struct option_row record_option_rows[];
int record_options_check(struct record_options *o, bool has_command, struct tare_error *err);
void record_options_free(struct record_options *o);

#endif
