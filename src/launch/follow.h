/* SPDX-License-Identifier: MIT */
/*
 * Whom a session follows, from begin to end: a command that it starts, or tasks that run already, or neither
 * (whole CPUs, until a signal). Launches, watches for the end and for signals to tare, and leaves nobody behind.
 */
#ifndef LAUNCH_FOLLOW_H
#define LAUNCH_FOLLOW_H

#include "launch/signals.h"
#include "launch/where.h"

struct follow_plan {
	const char *root;
	char *const *argv; /* NULL: no command */
	const struct launcher *launcher;
	char *const *envp; /* NULL: tare's own */
	struct fixed *fixed; /* as in struct stat_plan */
	bool running; /* under the exact engine: with a count that the command can read */
	const struct where *where;
};

struct follow {
	const struct follow_plan *plan;
	struct signals signals;
	struct launched child;
	struct places tasks; /* empty: system-wide */
	bool counts_command; /* the command is what is measured, and not only what ends it */
	bool prepared, released;
	unsigned asked_to_stop; /* how many signals said so */
	int by_signal, exec_code;
	bool has_status;
	int wait_status;
};

int follow_prepare(struct follow *f, const struct follow_plan *plan, struct tare_error *err);
/* The command becomes what it is; without one nothing happens. */
int follow_release(struct follow *f, struct tare_error *err);
int follow_wake_fd(const struct follow *f);
/*
 * Whether it is time to end: the command ended, the tasks are gone, or, without a command, a signal said so. A command
 * decides about signals itself: it gets each, and its end is the end.
 */
bool follow_ended(struct follow *f);
/*
 * The command comes to its own end, of which nothing is recorded any more; `until_ns` (CLOCK_MONOTONIC; 0: none) is the last moment. False when it
 * was not its own: there is no command, or the time was up.
 */
bool follow_to_end(struct follow *f, uint64_t until_ns);
/* Whatever still runs of the command is asked to end and waited for, unless SIGNALS_MEANT more say not to. */
void follow_end(struct follow *f);
void follow_close(struct follow *f);

/*
 * A command to its end, of which nothing is counted from here: prepared, released, waited for and let go. 0, or why it did
 * not start; then f->exec_code says whether its exec failed.
 */
int follow_command(const struct follow_plan *plan, struct follow *f, struct tare_error *err);
/* Of a command that was followed: its exit status as a shell has it; of one that never ended, 128 + the signal to us. */
int follow_status(const struct follow *f);

/* The process of a thread; 0 when it is gone. */
pid_t follow_process_of(const char *root, pid_t tid);
/* Who traces a thread, as a debugger does; 0: nobody. */
pid_t follow_tracer_of(pid_t tid);

#endif
