/* SPDX-License-Identifier: MIT */
/*
 * Starting the command to be measured. `prepare` makes a process that has a pid and waits; counters
 * are opened on it; `release` lets it become the command. The exact engine is another launcher: it
 * readies its translator in the same two steps, and its source finds the counts by the pid.
 */
#ifndef SESSION_LAUNCH_H
#define SESSION_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include "base/error.h"

struct launched {
	pid_t pid;     /* 0: none */
	int go_fd;     /* written to at release */
	int result_fd; /* the errno of a failed exec comes back here; closes on success */
	void *own;     /* a launcher's own state */
};

/* What the child gets back just before exec: everything as tare itself was started. */
struct launch_signals {
	sigset_t mask;
	struct sigaction sigpipe;
};

struct launcher {
	const char *name;
	const char *engine; /* what gives the user-mode counts: "perf" or "exact" */
	int (*prepare)(struct launched *l, char *const argv[], const struct launch_signals *sig,
		       struct tare_error *err);
	/* -ENOENT: no such command; another negative errno: why it cannot be executed. The child is
	 * then reaped. */
	int (*release)(struct launched *l, char *const argv[], struct tare_error *err);
	/* After the child was reaped, or to give up on one that was never released (it is then
	 * killed and reaped). */
	void (*close)(struct launched *l);
};

extern const struct launcher launch_plain; /* fork and exec */

#endif
