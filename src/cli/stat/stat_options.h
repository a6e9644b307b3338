/* SPDX-License-Identifier: MIT */
/* The options of `tare stat`, parsed into a struct. */
#ifndef CLI_STAT_STAT_OPTIONS_H
#define CLI_STAT_STAT_OPTIONS_H

#include "profile/profile.h"
#include "cli/common_options.h"
#include "launch/engine.h"
#include "output/options/output_options.h"

enum stat_format { FORMAT_PERF_CSV = FORMAT_OTHER, FORMAT_PERF_JSON };
enum { RUNS_MAX = 1000000 };

struct stat_options {
	struct event_options events;
	struct metric_options metrics;
	bool null_run;
	unsigned detail; /* number of -d */

	const char *pids, *tids, *cgroups;
	bool all_cpus, no_inherit;
	struct cpus cpus;
	enum stat_by by;

	unsigned runs; /* 0: no limit */
	uint64_t interval_ns, timeout_ns, delay_ns;
	unsigned intervals;
	bool start_disabled, no_multiplex, split;
	const char *control;
	enum engine_wish engine;
	const char *via, *device_root, *cpu_model; /* with ENGINE_MSR */
	bool cross_check;                          /* also with ENGINE_MSR */
	bool clean_times;
	bool verified_only, correct;
	enum { LAUNCH_DEFAULT, LAUNCH_FIXED, LAUNCH_PLAIN } launch;
	bool deterministic;
	enum { EXPLAIN_NO, EXPLAIN_ALL, EXPLAIN_REGRESSION } explain;
	struct determinism fixed; /* --deterministic: the fixed items */
	enum profile_by profile;
	size_t profile_limit; /* 0: all */
	bool profile_limited; /* given explicitly */

	struct output_options out; /* or a format of enum stat_format */
	const char *separator;
	bool append, no_thousands, metrics_only;
	bool all_user, all_kernel, sync, summary, quiet;
	const char *pre, *post;
	unsigned verbose;
	int log_fd; /* -1: stderr */
	const char *root;
};

#define STAT_OPTIONS_INIT                                                                          \
	{                                                                                          \
		.runs = 1, .log_fd = -1                                                            \
	}

extern const struct option_row stat_option_rows[];
/* Refuses combinations that make no sense, with a one-line error. `has_command`: words follow
 * the options. */
int stat_options_check(struct stat_options *o, bool has_command, struct tare_error *err);
void stat_options_free(struct stat_options *o);

#endif
