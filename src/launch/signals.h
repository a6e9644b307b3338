/* SPDX-License-Identifier: MIT */
/* Signals through a descriptor to poll; restores all settings afterwards. */
#ifndef LAUNCH_SIGNALS_H
#define LAUNCH_SIGNALS_H

#include <stdbool.h>
#include "launch/launch.h"

/*
 * Number of signals that cancel a wait: timeout(1) sends one twice, to its child and to its group.
 */
#define SIGNALS_MEANT 3

struct signals {
	int fd;
	struct launch_signals before; /* as tare was started: for the child, and to be restored */
	bool taken;                   /* there was one other than SIGCHLD */
};

struct signal_seen {
	int number;   /* SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT */
	bool hand_on; /* the command did not get it itself */
};

/*
 * Signals that were ignored when tare was started (nohup, a background job of a shell) stay
 * ignored.
 */
int signals_open(struct signals *s, struct tare_error *err);
/* False if none is pending. */
bool signals_next(struct signals *s, struct signal_seen *out);
/*
 * From si_code; false: the kernel sent it to the whole group. For a signal from a process it is
 * unknown whether it was sent to one process or to a group. It counts as sent to tare alone, as
 * forwarding it twice is less harmful than losing it.
 */
bool signal_is_for_us_alone(int number, int code);
/* Also continues a stopped process, so that the signal reaches it. Async-signal-safe. */
void signal_send(pid_t pid, int number);
void signals_close(struct signals *s);

/* How long a command that was asked to end may take, before it is killed. */
struct grace {
	uint64_t end_ns; /* 0: it was not asked */
};
/*
 * It was asked to end. The first time begins the grace, a later one ends it; copies of a signal
 * (by a terminal, by timeout(1)) arrive together with it.
 */
void grace_ask(struct grace *g);
/* CLOCK_MONOTONIC, when it has to be killed; UINT64_MAX: never. */
uint64_t grace_end_ns(const struct grace *g);

#endif
