/* SPDX-License-Identifier: MIT */
/* Run a command repeatedly and compare its user-mode instructions, its end and its output. */
#ifndef STAT_REPEAT_RUN_H
#define STAT_REPEAT_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include "launch/engine.h"
#include "launch/launch.h"

struct repeat_run {
	char *const *argv;
	struct machine *machine;
	struct encoding_list list; /* instructions:u */
	const struct launcher *launcher;
	uint64_t timeout_ns; /* for one run; 0: none */
};

struct repeat_run_result {
	uint64_t instructions;
	int wait_status;
	uint64_t output; /* a hash of its standard output and standard error, which are discarded */
	int exec_code;   /* errno if the command could not be executed */
	int by_signal;   /* tare was asked to stop */
	bool timed_out;
	bool never_began; /* a signal killed it before its first instruction */
};

/* With the requested engine. Nothing is run yet. -errno: why instructions cannot be counted. */
int repeat_run_open(struct repeat_run *t, char *const argv[], enum engine_wish wish,
		    struct tare_error *err);
/* One run. `envp` NULL: tare's own environment. */
int repeat_run_once(const struct repeat_run *t, struct determinism *fixed, char *const *envp,
		    struct repeat_run_result *out, struct tare_error *err);
void repeat_run_close(struct repeat_run *t);

#endif
