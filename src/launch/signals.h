/* SPDX-License-Identifier: MIT */
/* Signals as something to poll for, and everything put back afterwards. */
#ifndef LAUNCH_SIGNALS_H
#define LAUNCH_SIGNALS_H

#include <stdbool.h>
#include "launch/launch.h"

/* To give up waiting for something: timeout(1) sends what is meant once twice, to its child and to its group. */
#define SIGNALS_MEANT 3

struct signals {
	int fd;
	struct launch_signals before; /* as tare was started: for the child, and for the end */
	bool taken;		      /* there was one, SIGCHLD apart */
};

struct signal_seen {
	int number;       /* SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT */
	bool hand_on; /* the command has it not by itself */
};

/* Those that tare was started with ignored (nohup, a shell's background job) stay ignored. */
int signals_open(struct signals *s, struct tare_error *err);
/* false when none is waiting. */
bool signals_next(struct signals *s, struct signal_seen *out);
/*
 * Of its si_code; false: the kernel sent it to all of the group. Of what a process sent nobody can tell whether to one or to
 * a group: it counts as sent to us, as what is handed on twice does less harm than what is lost.
 */
bool signal_is_for_us_alone(int number, int code);
/* A stopped process continues, so that the signal reaches it. For signal handlers, too. */
void signal_send(pid_t pid, int number);
void signals_close(struct signals *s);

#endif
