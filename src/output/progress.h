/* SPDX-License-Identifier: MIT */
/*
 * Progress of a long command, and its estimated remaining time: one line on standard error, if that
 * is a terminal.
 */
#ifndef OUTPUT_PROGRESS_H
#define OUTPUT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *name; /* of tare's command; NULL: nothing is shown */
	bool shared;      /* a command also writes to this terminal: print a new line each time */
	bool shown;
	uint64_t begun_ns, last_ns;
	double begun; /* the share that was done at begun_ns, when the first line was shown */
};

/*
 * shared: a command runs, with tare's own standard output. Shows nothing if standard error is not a
 * terminal.
 */
void progress_begin(struct progress *p, const char *name, bool shared);
/*
 * part: the share that is done, 0 to 1; 0 or less: unknown. The first call shows at once, others at
 * most ten times a second (shared: once a second). The remaining time is estimated from the
 * progress since the first line: the time before it was preparation.
 */
void progress_show(struct progress *p, double part, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Remove the line. */
void progress_end(struct progress *p);

#endif
