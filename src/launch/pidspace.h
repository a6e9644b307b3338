/* SPDX-License-Identifier: MIT */
/*
 * Process ids that are the same, and of the same length, each time: tare and its children live in a
 * pid namespace of their own, and before each start the next id is reset.
 */
#ifndef LAUNCH_PIDSPACE_H
#define LAUNCH_PIDSPACE_H

#include "launch/determinism.h"

enum { PIDSPACE_FIRST = 1000 };

/*
 * With FIXED_PID or FIXED_CWD in the set: continue as a child in a new pid namespace, with /proc
 * mounted for it, and for CWD all files mounted again in a folder of /tmp with a name that fills up
 * the working directory's. Returns -1 there, and if it fails (the item is missed then). In the
 * caller, which waits for that child and forwards signals, returns the child's exit status; the
 * signals stay blocked. A
 * command that changes its rights could not do so there, unless root starts it: missed, too. Call
 * it before anything is opened or started. Processes that the command leaves running end with it.
 */
int pidspace_enter(struct determinism *f, const char *command);
/*
 * The next process to be started gets id f->first_pid, or a slightly higher one if that is in use.
 */
void pidspace_rewind(struct determinism *f);

/*
 * In the namespace, with FIXED_CWD in effect: replace the long name by one that is `more`
 * characters longer than the working directory's own, as far as there is room; 0: its own. `f` is a
 * copy of a struct that remains in use; end it before the next.
 */
void pidspace_rename(struct determinism *f, size_t more);
void pidspace_rename_end(struct determinism *f);

#endif
