/* SPDX-License-Identifier: MIT */
/* Unfinished files: a signal that ends tare removes them. */
#ifndef OUTPUT_TEMP_CLEANUP_H
#define OUTPUT_TEMP_CLEANUP_H

#include <signal.h>

/*
 * Block such signals until temp_cleanup_unblock(): while a file is created that is not registered
 * yet, or renamed to its final name.
 */
sigset_t temp_cleanup_block(void);
void temp_cleanup_unblock(const sigset_t *before);
/* A file, or a folder of files. `name` must stay valid until it is spared. NULL is ignored. */
void temp_cleanup_add(const char *name);
void temp_cleanup_forget(const char *name);
/*
 * From here on the files are kept: such signals are deferred until temp_cleanup_finished(), when
 * the files have their final names. This does not use the signal mask, which a session restores at
 * its end. After 1 s of CPU time or 10 s, a deferred signal ends tare at once: the files then keep
 * their current names.
 */
void temp_cleanup_finish(void);
void temp_cleanup_finished(void);

#endif
