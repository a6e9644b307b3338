/* SPDX-License-Identifier: MIT */
/* The state of another process or thread. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"

/*
 * Its letter in ROOT/proc/TID/stat (R, S, D, T, ...); 'X': it does not exist. root may be NULL.
 * Allocates nothing: signal handlers may call it. Source: proc(5), "stat".
 */
char process_state(const char *root, pid_t tid);
/* It has ended, though its parent may not have waited for it yet. */
bool process_ended(const char *root, pid_t tid);

/*
 * Raise this process's limit of open files to the hard limit, which is higher than the usual 1024:
 * for a descriptor per event, CPU and thread. False: it was there already.
 */
bool process_more_descriptors(void);

/*
 * Hint at the limit to raise after fork(2), pipe(2), pthread_create(3) or the like failed with this
 * errno.
 */
void process_limit_hint(struct tare_error *err, int code);

/* The inode of this process's PID namespace; 0: unknown. */
uint64_t process_pid_namespace(void);
/*
 * The start time of a process, in ticks of the kernel's USER_HZ since boot, from its
 * /proc/PID/stat; 0: unknown.
 */
uint64_t process_start_ticks(const char *stat);

#endif
