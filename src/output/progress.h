/* SPDX-License-Identifier: MIT */
/* How far a long command is, and about how long it still takes: one line on standard error, if that
 * is a terminal. */
#ifndef OUTPUT_PROGRESS_H
#define OUTPUT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *name; /* of tare's command; NULL: nothing is shown */
	bool shared;      /* a command writes to this terminal, too: each time a line of its own */
	bool shown;
	uint64_t begun_ns, last_ns;
	double begun; /* the share that was done when the first line was shown, at begun_ns */
};

/* shared: a command runs, with tare's own standard output. Nothing is shown where standard error is
 * no terminal. */
void progress_begin(struct progress *p, const char *name, bool shared);
/*
 * part: the share that is done, 0 to 1; 0 or less: unknown. The first call shows at once, others at most ten
 * times a second (shared: once a second). The remaining time is estimated from the progress since the first line: the time before it
 * was preparation.
 */
void progress_show(struct progress *p, double part, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Takes the line away. */
void progress_end(struct progress *p);

#endif
