/* SPDX-License-Identifier: MIT */
/* Run a command repeatedly and compare its counts, its end and its output. */
#ifndef STAT_REPEAT_RUN_H
#define STAT_REPEAT_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include "launch/engine.h"
#include "launch/launch.h"

enum { REPEAT_EVENTS_MAX = 32 };

struct repeat_run {
	char *const *argv;
	struct machine *machine;
	struct encoding_list list;
	const struct launcher *launcher;
	uint64_t timeout_ns; /* for one run; 0: none */
};

struct repeat_run_result {
	uint64_t count[REPEAT_EVENTS_MAX];
	enum tare_quality quality[REPEAT_EVENTS_MAX]; /* exact, counted or scaled */
	uint64_t wall_ns, cpu_ns;
	int wait_status;
	uint64_t output; /* a hash of its standard output and standard error, which are discarded */
	int exec_code;   /* errno if the command could not be executed */
	int by_signal;   /* tare was asked to stop */
	bool timed_out;
	bool never_began; /* a signal killed it before its first instruction */
};

/*
 * With the requested engine. `events` as for -e, at most REPEAT_EVENTS_MAX; NULL: none, and the
 * command runs without an engine. Nothing is run yet. -errno: why they cannot be counted.
 */
int repeat_run_open(struct repeat_run *t, char *const argv[], const char *events,
		    enum engine_wish wish, struct tare_error *err);
/*
 * One run. `envp` NULL: tare's own environment. An event that is not counted all the time is an
 * error.
 */
int repeat_run_once(const struct repeat_run *t, struct determinism *fixed, char *const *envp,
		    struct repeat_run_result *out, struct tare_error *err);
void repeat_run_close(struct repeat_run *t);

#endif
