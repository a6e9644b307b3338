/* SPDX-License-Identifier: MIT */
/* Unfinished files: a signal that ends tare removes them. */
#ifndef OUTPUT_DOOMED_H
#define OUTPUT_DOOMED_H

#include <signal.h>

/*
 * Block such signals until doomed_let(): while a file is created that is not registered yet, or
 * renamed to its final name.
 */
sigset_t doomed_hold(void);
void doomed_let(const sigset_t *before);
/* A file, or a folder of files. `name` must stay valid until it is spared. NULL is ignored. */
void doomed_add(const char *name);
void doomed_spare(const char *name);
/*
 * From here on the files are kept: such signals are deferred until doomed_finished(), when the
 * files have their final names. This does not use the signal mask, which a session restores at its
 * end.
 */
void doomed_finish(void);
void doomed_finished(void);

#endif
