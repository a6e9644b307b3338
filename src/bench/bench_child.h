/* SPDX-License-Identifier: MIT */
/*
 * Runs a helper process: a compiler, or the process that runs tests. Ends it together with tare, or
 * if it makes no progress.
 */
#ifndef BENCH_BENCH_CHILD_H
#define BENCH_BENCH_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include "launch/launch.h"

struct bench_child {
	char *const *argv;
	bool exact;                /* run under the exact engine */
	struct determinism *fixed; /* the fixed items; NULL: none */
	bool own_group; /* it becomes leader of its own process group, which is ended with it */
	/*
	 * it has files to remove: it becomes leader of a group, which signals ask to end; the third
	 * one (SIGNALS_MEANT) kills it. Otherwise it is killed at once
	 */
	bool tidies;
	int in, out, err;                  /* its descriptors 0 to 2; -1: tare's */
	int cpu;                           /* -1: any */
	const volatile uint64_t *progress; /* changes while it works; NULL: unknown */
	uint64_t timeout_ns;               /* without progress; 0: no limit */
	/* called about twenty times per second while it runs; NULL: no progress */
	void (*look)(void *with);
	void *with;
};

struct bench_child_end {
	int status; /* wait(2) status */
	bool timed_out;
	int by_signal; /* the signal that asked tare to end */
};

/*
 * 0 if it has ended in any way; -ECANCELED if a signal asked tare to end; -ENOTSUP if the exact
 * engine could not count it completely; otherwise why it could not be started.
 */
int bench_child(const struct bench_child *c, struct bench_child_end *end, struct tare_error *err);

#endif
