/* SPDX-License-Identifier: MIT */
/*
 * Starts the command to be measured. `prepare` creates a process that has a pid and waits; counters
 * are opened on it; `release` makes it execute the command. The exact engine is another launcher:
 * it sets up its translator in the same two steps, and its source finds the counts by the pid.
 */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>
#include "exact/exact.h"
#include "launch/determinism.h"
#include "source/source.h"

struct launched {
	pid_t pid;              /* 0: none */
	int go_fd;              /* written to at release */
	int result_fd;          /* receives the errno of a failed exec; closes on success */
	void *own;              /* the launcher's own state */
	unsigned stops;         /* exact engine: exact_stops() of the command */
	struct exact_left left; /* exact engine, once it was reaped */
	bool never_began;       /* exact engine: see struct exact_end */
	struct exact_slow slow; /* exact engine */
	/* exact engine: processes that were not counted to their end */
	struct exact_partial partial;
	/* set before prepare: record where instructions are executed, if supported */
	bool profile;
	/* set before prepare: samples, for launched_samples(); exact engine only */
	struct exact_every every;
	/*
	 * set before prepare: a running count that the program can read, tare/exact.h, if supported
	 */
	bool running;
	char *const *envp; /* for the command; set by the caller before prepare */
	/* set before prepare: items to fix; the launcher records those that fail. NULL: none */
	struct determinism *fixed;
};

/* Signal settings that the child restores just before exec: those with which tare was started. */
struct launch_signals {
	sigset_t mask;
	struct sigaction sigpipe, sigchld;
};

struct launcher {
	const char *name;
	const struct source *engine; /* what gives the user-mode counts */
	bool adds_work;              /* of its own: times and the kernel's counts hold it too */
	/*
	 * The pid is known only after release. The kernel's counters are then opened on the caller,
	 * start at exec, and are inherited by the command.
	 */
	bool late;
	int (*prepare)(struct launched *l, char *const argv[], const struct launch_signals *sig,
		       struct tare_error *err);
	/*
	 * -ENOENT: no such command; -ENOTSUP: this launcher cannot run it; another negative errno:
	 * why it cannot be executed. The child has then ended.
	 */
	int (*release)(struct launched *l, char *const argv[], const struct launch_signals *sig,
		       struct tare_error *err);
	/*
	 * Called after signal `number` was sent to the command: a process between tare and the
	 * command (the supervisor) does not get that signal. NULL: no such process.
	 */
	void (*signalled)(const struct launched *l, int number);
	/* A descriptor to poll for the command's end, or -1: wait for SIGCHLD. */
	int (*wake_fd)(const struct launched *l);
	/* 1 once the command has ended and was reaped; else 0. */
	int (*reap)(struct launched *l, int *status, struct rusage *used);
	/*
	 * After the child was reaped, or to cancel one that was never released (it is then ended).
	 */
	void (*close)(struct launched *l);
};

/*
 * For launchers: the error for a failed execve of the command. Returns -code, -ENOEXEC for a
 * missing interpreter.
 */
int launch_not_executed(const char *command, int code, struct tare_error *err);

/* Sets isa_model of `f` as launch_exact will, before a command is prepared. */
int launch_choose_isa(struct determinism *f, struct tare_error *err);

/* Sends a signal to the command, see signal_send(). */
void launch_signal(const struct launcher *launcher, const struct launched *l, int number);

extern const struct launcher launch_plain; /* fork and exec */
extern const struct launcher launch_exact; /* under the exact engine */
/* New samples of a command launched with `every`; see exact_samples(). */
int launched_samples(const struct launched *l, exact_sample_fn *each, void *with,
		     struct tare_error *err);
/* Profile of a command launched with `profile`; see exact_profile(). */
int launched_profile(const struct launched *l, struct exact_profile *out, struct tare_error *err);
/*
 * All classes of a command under the exact engine, or why it was not counted completely; see
 * exact_counts().
 */
int launched_counts(const struct launched *l, int64_t out[EXACT_CLASSES], struct tare_error *err);
/* -ENOTSUP: a program overwrote the memory that contains these counts. */
int launched_intact(const struct launched *l, struct tare_error *err);
/* The processes that these counts lack; see exact_partial(). */
void launched_partial(const struct launched *l, struct exact_partial *out);

#endif
