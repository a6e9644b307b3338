/* SPDX-License-Identifier: MIT */
/*
 * Process ids that are the same each time, and as long: tare and what it starts live in a pid namespace of their own, and
 * before each start the next id is set back.
 */
#ifndef LAUNCH_PIDSPACE_H
#define LAUNCH_PIDSPACE_H

#include "launch/fixed.h"

enum { PIDSPACE_FIRST = 1000 };

/*
 * With FIXED_PID or FIXED_CWD in the set: go on as a child in a new pid namespace, with /proc mounted for it, and for CWD all files once more
 * under a folder of /tmp whose name is as long as the working directory's lacks. Returns -1 there, and
 * where it could not be had (the item is missed then); in the caller, which waits for that child and passes signals
 * on, its exit status. A command that changes its rights could not do so in there, unless root starts it: missed, too.
 * Call it before anything is opened or started. What the command leaves running ends with it.
 */
int pidspace_enter(struct fixed *f, const char *command);
/* The next process to be started has id f->first_pid, or a little above where that is in use. */
void pidspace_rewind(struct fixed *f);

/*
 * In the namespace, with FIXED_CWD had: instead of the long name one that is `more` characters longer than the working directory's
 * own, as far as there is room; 0: its own. `f` is a copy, of which the other lives on; end it before the next.
 */
void pidspace_rename(struct fixed *f, size_t more);
void pidspace_rename_end(struct fixed *f);

#endif
