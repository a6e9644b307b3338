/* SPDX-License-Identifier: MIT */
/* A command run again and again, to see whether it does the same: its user-mode instructions, its end, its output. */
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
	uint64_t timeout_ns; /* of one run; 0: none */
};

struct trial_run {
	uint64_t instructions;
	int wait_status;
	uint64_t output; /* a hash of what it wrote to its standard output and error, which nobody sees */
	int exec_code;	 /* errno, of a command that cannot be executed */
	int by_signal;	 /* tare was asked to stop */
	bool timed_out;
	bool never_began; /* a signal ended it before its first instruction */
};

/* By the engine wished for. Nothing is run yet. -errno: why instructions cannot be counted. */
int trial_open(struct trial *t, char *const argv[], enum engine_wish wish, struct tare_error *err);
/* One run; `envp` NULL: tare's own environment. */
int trial_run(const struct trial *t, struct fixed *fixed, char *const *envp, struct trial_run *out, struct tare_error *err);
void trial_close(struct trial *t);

#endif
