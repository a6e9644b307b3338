/* SPDX-License-Identifier: MIT */
/*
 * The identity of this process, and the lock of its regions. A child has a copy of its parent's
 * memory. After clone(2) or another raw system call, no fork handler runs, so the child detects
 * that it is new by a page with MADV_WIPEONFORK, which it finds zeroed (Linux 4.14; earlier
 * kernels: only fork() is detected). The page is allocated on first use.
 *
 * The lock is in that page, so it is free in the child even if the parent held it.
 */
#ifndef REGIONS_RUNTIME_REGION_PROCESS_H
#define REGIONS_RUNTIME_REGION_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct region_recording;

struct region_self {
	struct region_recording *current; /* the recording, or NULL */
	/*
	 * depth in the chain of ancestors, from 1; 0: a child that did not check yet, or not
	 * initialised
	 */
	unsigned process;
	unsigned lock; /* 0: free; 1: held; 2: held, and threads may wait */
};

extern struct region_self *region_self_page;

static inline struct region_self *region_self(void)
{
	return __atomic_load_n(&region_self_page, __ATOMIC_ACQUIRE);
}

/* This process's number. Data with another number belongs to a parent. 0: not known yet. */
static inline unsigned region_process(void)
{
	return __atomic_load_n(&region_self()->process, __ATOMIC_ACQUIRE);
}

/*
 * If this is a child for which no fork handler ran, make it a process of its own
 * (region_child_begins()).
 */
void region_process_look(void);
/* The number for this child, which becomes the current one with region_process_begin(). */
unsigned region_process_next(void);
void region_process_begin(unsigned process);
/* In region_child.c: reset what the child inherited. Calls region_process_begin() last. */
void region_child_begins(void);

/*
 * Also calls region_process_look(). False: this is a handler that interrupted the holder of the
 * lock, or its acquisition. Preserves errno.
 */
bool region_lock(void);
void region_unlock(void);
/* Does the calling thread have the lock, or is it acquiring or releasing it? */
bool region_locking(void);

#endif
