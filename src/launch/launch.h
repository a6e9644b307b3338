/* SPDX-License-Identifier: MIT */
/*
 * Starting the command to be measured. `prepare` makes a process that has a pid and waits; counters
 * are opened on it; `release` lets it become the command. The exact engine is another launcher: it
 * readies its translator in the same two steps, and its source finds the counts by the pid.
 */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>
#include "exact/exact.h"
#include "launch/fixed.h"
#include "source/source.h"

struct launched {
	pid_t pid;     /* 0: none */
	int go_fd;     /* written to at release */
	int result_fd; /* the errno of a failed exec comes back here; closes on success */
	void *own;     /* a launcher's own state */
	unsigned stops; /* of the command, under the exact engine: exact_stops() */
	struct exact_left left; /* likewise, once it was reaped */
	bool never_began; /* likewise: see struct exact_end */
	struct exact_slow slow; /* likewise */
	struct exact_partial partial; /* likewise: the processes that are not counted to their end */
	bool profile;  /* set before prepare: keep where instructions are executed, where it can */
	struct exact_every every; /* likewise: samples, for launched_samples(); only the exact engine has them */
	bool running;  /* likewise: a running count for the program's own reads, tare/exact.h, where it can */
	char *const *envp; /* for the command; set by who launches, before prepare */
	struct fixed *fixed; /* likewise: what is the same each time; the launcher notes what it misses. NULL: nothing */
};

/* What the child gets back just before exec: everything as tare itself was started. */
struct launch_signals {
	sigset_t mask;
	struct sigaction sigpipe, sigchld;
};

struct launcher {
	const char *name;
	const struct source *engine; /* what gives the user-mode counts */
	bool adds_work;     /* of its own: times and the kernel's counts hold it too */
	/*
	 * The pid is known only after release. Counters of the kernel are then opened on the
	 * caller, start at exec, and reach the command by being inherited.
	 */
	bool late;
	int (*prepare)(struct launched *l, char *const argv[], const struct launch_signals *sig,
		       struct tare_error *err);
	/*
	 * -ENOENT: no such command; -ENOTSUP: this launcher cannot run it; another negative errno:
	 * why it cannot be executed. The child is then gone.
	 */
	int (*release)(struct launched *l, char *const argv[], const struct launch_signals *sig,
		       struct tare_error *err);
	/* A descriptor to poll for the command's end, or -1: SIGCHLD tells it. */
	int (*wake_fd)(const struct launched *l);
	/* 1 once the command has ended, and is reaped; 0 before. */
	int (*reap)(struct launched *l, int *status, struct rusage *used);
	/* After the child was reaped, or to give up on one that was never released (it is then
	 * gone). */
	void (*close)(struct launched *l);
};

/* For launchers: why execve of the command failed with that errno. Returns -code, -ENOEXEC for a lost interpreter. */
int launch_not_executed(const char *command, int code, struct tare_error *err);

extern const struct launcher launch_plain; /* fork and exec */
extern const struct launcher launch_exact; /* under the exact engine */
/* What was sampled since the last call, of a command launched with `every`; see exact_samples(). */
int launched_samples(const struct launched *l, exact_sample_fn *each, void *with, struct tare_error *err);
/* What it executed, of a command launched with `profile`; see exact_profile(). */
int launched_profile(const struct launched *l, struct exact_profile *out, struct tare_error *err);
/* All classes of a command under the exact engine, or why it was not counted whole; see exact_counts(). */
int launched_counts(const struct launched *l, int64_t out[EXACT_CLASSES], struct tare_error *err);
/* The processes that those are without; see exact_partial(). */
void launched_partial(const struct launched *l, struct exact_partial *out);

#endif
