/* SPDX-License-Identifier: MIT */
/* The options of `tare stat`, and nothing more: words -> a struct. */
#ifndef CLI_STAT_STAT_OPTIONS_H
#define CLI_STAT_STAT_OPTIONS_H

#include "count/metrics.h"
#include "profile/profile.h"
#include "base/cpus.h"
#include "output/command.h"
#include "output/output.h"
#include "event/event.h"
#include "launch/engine.h"
#include "launch/fixed.h"

enum stat_format { FORMAT_TEXT, FORMAT_PERF_CSV, FORMAT_PERF_JSON, FORMAT_JSON, FORMAT_CSV };
enum { ASKED_MAX = 32, EVENT_FILES_MAX = 16, RUNS_MAX = 1000000 };

struct stat_options {
	struct event_list events;
	const char *event_text; /* the argument of -e, if there was just one */
	bool events_given, null_run;
	unsigned detail;                  /* how many -d */
	struct metric_row own[ASKED_MAX]; /* --metric name=formula; name and formula are owned */
	const struct metric_row *asked[ASKED_MAX + 1];
	size_t n_asked, n_own;
	const char *event_files[EVENT_FILES_MAX + 1];
	size_t n_event_files;

	const char *pids, *tids, *cgroups;
	bool all_cpus, no_inherit;
	struct cpus cpus;
	enum stat_by by;

	unsigned runs; /* 0: for ever */
	uint64_t interval_ns, timeout_ns, delay_ns;
	unsigned intervals;
	bool start_disabled, no_multiplex, split;
	const char *control;
	enum engine_wish engine;
	const char *via, *device_root, *cpu_model; /* with ENGINE_MSR */
	bool cross_check;			   /* likewise */
	bool clean_times;
	bool verified_only, correct;
	enum { LAUNCH_DEFAULT, LAUNCH_FIXED, LAUNCH_PLAIN } launch;
	bool deterministic;
	enum { EXPLAIN_NO, EXPLAIN_ALL, EXPLAIN_REGRESSION } explain;
	struct fixed fixed; /* --deterministic: the fixed items */
	enum profile_by profile;
	size_t profile_limit; /* 0: all */
	bool profile_limited; /* it was given */

	enum stat_format format;
	const char *separator;
	const char *output, *html;
	bool append, no_thousands, metrics_only;
	bool all_user, all_kernel, sync, summary, quiet;
	const char *pre, *post;
	unsigned verbose;
	int log_fd; /* -1: stderr */
	enum when colour;
	const char *root;
};

#define STAT_OPTIONS_INIT                                                                          \
	{                                                                                          \
		.runs = 1, .log_fd = -1                                          \
	}

extern const struct option_row stat_option_rows[];
/* Combinations that make no sense, said in one line. `has_command`: words follow the options. */
int stat_options_check(struct stat_options *o, bool has_command, struct tare_error *err);
void stat_options_free(struct stat_options *o);

#endif
