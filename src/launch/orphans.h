/* SPDX-License-Identifier: MIT */
/*
 * Processes that a child leaves running, also in other sessions. While this process is a subreaper
 * they become its children when their parents end, and can be ended.
 */
#ifndef LAUNCH_ORPHANS_H
#define LAUNCH_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct orphans {
	bool was; /* previous state */
	bool adopting;
	pid_t *own; /* children that existed before, left alone */
	size_t n;
};

/*
 * Start adopting. If the kernel or /proc does not allow it, nothing is adopted and orphans_end()
 * does nothing.
 */
void orphans_adopt(struct orphans *o);
/* Reap those that have ended; not `but`, which has another waiter. */
void orphans_reap(const struct orphans *o, pid_t but);
/*
 * Kill and reap all that were adopted since, and their children; gives up after five seconds on one
 * that the kernel does not release.
 */
void orphans_end(struct orphans *o);
/* Stop adopting, and leave those that were adopted alone. */
void orphans_leave(struct orphans *o);

#endif
