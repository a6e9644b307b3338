/* SPDX-License-Identifier: MIT */
/*
 * Processes that a child leaves behind, also those that went into a session of their own: while they are adopted they become
 * children of this process when their parents end, and can be ended.
 */
#ifndef LAUNCH_ORPHANS_H
#define LAUNCH_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct orphans {
	bool was; /* this process adopted before */
	bool adopting;
	pid_t *own; /* children that there were before, left alone */
	size_t n;
};

/* From now on. Where the kernel or /proc does not let us, nothing is adopted and orphans_end() does nothing. */
void orphans_adopt(struct orphans *o);
/* Reap those that have ended by themselves; not `but`, which somebody else waits for. */
void orphans_reap(const struct orphans *o, pid_t but);
/* Kill and reap all that have come since, and theirs; gives up after five seconds on one that the kernel does not let go. */
void orphans_end(struct orphans *o);

#endif
