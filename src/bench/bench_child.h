/* SPDX-License-Identifier: MIT */
/* A helper process from begin to end: a compiler, or the process that runs tests. Ends it with tare, or when it stands still. */
#ifndef BENCH_BENCH_CHILD_H
#define BENCH_BENCH_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include "launch/launch.h"

struct bench_child {
	char *const *argv;
	bool exact;  /* under the exact engine */
	struct fixed *fixed; /* what is the same each time; NULL: nothing */
	bool own_group; /* it makes itself the leader of a process group, which is to end with it */
	bool tidies; /* it has files to take away: made the leader of a group, which signals ask to end, and the third (SIGNALS_MEANT) kills; else at once */
	int in, out, err; /* its descriptors 0 to 2; -1: tare's */
	int cpu;     /* -1: any */
	const volatile uint64_t *progress; /* moves while it works; NULL: nothing is known of it */
	uint64_t timeout_ns; /* without progress; 0: none */
	void (*look)(void *with); /* called some twenty times a second while it runs; NULL: no progress */
	void *with;
};

struct bench_child_end {
	int status; /* as wait(2) gives it */
	bool timed_out;
	int by_signal; /* that asked tare to end */
};

/*
 * 0 when it has ended, however; -ECANCELED when a signal asked tare to end; -ENOTSUP when the exact engine could not count
 * it whole; otherwise why it could not be started.
 */
int bench_child(const struct bench_child *c, struct bench_child_end *end, struct tare_error *err);

#endif
