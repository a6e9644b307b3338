/* SPDX-License-Identifier: MIT */
/* Run a command repeatedly and compare its user-mode instructions, its end and its output. */
#ifndef STAT_TRIAL_H
#define STAT_TRIAL_H

#include <stdbool.h>
#include <stdint.h>
#include "launch/engine.h"
#include "launch/launch.h"

struct trial {
	char *const *argv;
	struct machine *machine;
	struct encoding_list list; /* instructions:u */
	const struct launcher *launcher;
	uint64_t timeout_ns; /* for one run; 0: none */
};

struct trial_run {
	uint64_t instructions;
	int wait_status;
	uint64_t output; /* a hash of its standard output and standard error, which are discarded */
	int exec_code;   /* errno if the command could not be executed */
	int by_signal;   /* tare was asked to stop */
	bool timed_out;
	bool never_began; /* a signal killed it before its first instruction */
};

/* With the requested engine. Nothing is run yet. -errno: why instructions cannot be counted. */
int trial_open(struct trial *t, char *const argv[], enum engine_wish wish, struct tare_error *err);
/* One run. `envp` NULL: tare's own environment. */
int trial_run(const struct trial *t, struct fixed *fixed, char *const *envp, struct trial_run *out,
	      struct tare_error *err);
void trial_close(struct trial *t);

#endif
