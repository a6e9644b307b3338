/* SPDX-License-Identifier: MIT */
/* Signals as something to poll for, and everything put back afterwards. */
#ifndef SESSION_SIGNALS_H
#define SESSION_SIGNALS_H

#include <stdbool.h>
#include "session/launch.h"

struct signals {
	int fd;
	struct launch_signals before; /* as tare was started: for the child, and for the end */
	int last;		      /* the last one that somebody sent, and when it was seen */
	uint64_t last_ns;
};

struct signal_seen {
	int number;       /* SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT */
	bool by_terminal; /* the whole foreground group has it, the command too */
};

/* Those that tare was started with ignored (nohup, a shell's background job) stay ignored. */
int signals_open(struct signals *s, struct tare_error *err);
/* false when none is waiting. One that is sent twice at once, as timeout(1) does to its child and then to its group, is one. */
bool signals_next(struct signals *s, struct signal_seen *out);
void signals_close(struct signals *s);

#endif
