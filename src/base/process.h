/* SPDX-License-Identifier: MIT */
/* The state of another process or thread. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Its letter in ROOT/proc/TID/stat (R, S, D, T, ...); 'X': it is gone. root may be NULL. Allocates nothing: signal handlers
 * may call it. Source: proc(5), "stat".
 */
char process_state(const char *root, pid_t tid);
/* It does not run any more, though its parent may not have waited for it yet. */
bool process_ended(const char *root, pid_t tid);

#endif
