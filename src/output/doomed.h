/* SPDX-License-Identifier: MIT */
/* Files that are worth nothing yet: a signal that ends tare takes them away. */
#ifndef OUTPUT_DOOMED_H
#define OUTPUT_DOOMED_H

#include <signal.h>

/* Such signals wait until doomed_let(): while a file is made whose name is not doomed yet, or one is put in its place. */
sigset_t doomed_hold(void);
void doomed_let(const sigset_t *before);
/* A file, or a folder with files in it. `name` stays where it is until it is spared. NULL is none. */
void doomed_add(const char *name);
void doomed_spare(const char *name);
/*
 * The files are to be kept now: such signals wait until doomed_finished(), when the files have their names. This does not use the
 * mask of signals, which a session restores when it ends.
 */
void doomed_finish(void);
void doomed_finished(void);

#endif
