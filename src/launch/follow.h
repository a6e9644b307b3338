/* SPDX-License-Identifier: MIT */
/*
 * The target of a session, from start to end: a command that tare starts, tasks that already run,
 * or neither (whole CPUs, until a signal). Launches the command, watches for its end and for
 * signals to tare, and leaves no process running.
 */
#ifndef LAUNCH_FOLLOW_H
#define LAUNCH_FOLLOW_H

#include "launch/signals.h"
#include "launch/count_target.h"

struct follow_plan {
	const char *root;
	char *const *argv; /* NULL: no command */
	const struct launcher *launcher;
	char *const *envp;         /* NULL: tare's own */
	struct determinism *fixed; /* as in struct stat_plan */
	bool running; /* under the exact engine: with a count that the command can read */
	bool kills;   /* as in struct stat_plan */
	const struct count_target *target;
};

struct follow {
	const struct follow_plan *plan;
	struct signals signals;
	struct launched child;
	struct places tasks; /* empty: system-wide */
	bool counts_command; /* the command is measured, rather than only limiting the time */
	bool prepared, released;
	unsigned asked_to_stop; /* how many signals asked for the end */
	struct grace grace;     /* with plan->kills */
	int by_signal, exec_code;
	bool has_status;
	int wait_status;
};

int follow_prepare(struct follow *f, const struct follow_plan *plan, struct tare_error *err);
/* Execute the command; without one this does nothing. */
int follow_release(struct follow *f, struct tare_error *err);
int follow_wake_fd(const struct follow *f);
/*
 * Is it time to end: the command ended, the tasks are gone, or, without a command, a signal
 * arrived? A command handles signals itself: it gets each one, and its end is the end.
 */
bool follow_ended(struct follow *f);
/*
 * Wait for the command's own end, without recording; at most until `until_ns` (CLOCK_MONOTONIC; 0:
 * no limit). False: there is no command, or the time was up.
 */
bool follow_to_end(struct follow *f, uint64_t until_ns);
/*
 * Ask what still runs of the command to end, and wait, unless SIGNALS_MEANT further signals arrive.
 */
void follow_end(struct follow *f);
void follow_close(struct follow *f);

/*
 * Run a command to its end without counting: prepare, release, wait, close. 0, or why it did not
 * start; then f->exec_code is set if exec failed. With the exact engine also -ENOTSUP of
 * launched_intact(), when it has ended.
 */
int follow_command(const struct follow_plan *plan, struct follow *f, struct tare_error *err);
/* Exit status of the command as in a shell; if it did not end, 128 + the signal to tare. */
int follow_status(const struct follow *f);

/* The process of a thread; 0 if it has ended. */
pid_t follow_process_of(const char *root, pid_t tid);
/* The tracer of a thread, such as a debugger; 0: none. */
pid_t follow_tracer_of(pid_t tid);

#endif
