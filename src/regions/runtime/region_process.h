/* SPDX-License-Identifier: MIT */
/*
 * Which process this is, and the lock of its regions. A child has its parent's memory, and where clone(2) or another raw system
 * call made it nobody tells it so: it sees by a page that the kernel lets every child find empty (Linux 4.14; before, only fork()
 * tells). The page is made when it is first asked for.
 *
 * The lock lies in that page: who had it is not in the child, where it is free.
 */
#ifndef REGIONS_RUNTIME_REGION_PROCESS_H
#define REGIONS_RUNTIME_REGION_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct region_recording;

struct region_self {
	struct region_recording *current; /* the recording, or NULL */
	unsigned process; /* how many processes deep in its ancestors, from 1; 0: a child that did not look yet, or nobody did */
	unsigned lock;	  /* 0: free, 1, 2: somebody may wait */
};

extern struct region_self *region_self_page;

static inline struct region_self *region_self(void)
{
	return __atomic_load_n(&region_self_page, __ATOMIC_ACQUIRE);
}

/* This process's number; what has another one is of a parent. 0: not known yet. */
static inline unsigned region_process(void)
{
	return __atomic_load_n(&region_self()->process, __ATOMIC_ACQUIRE);
}

/* A child that nobody was told of becomes a process of its own (region_child_begins()), if this is one. */
void region_process_look(void);
/* This child's number; and it is that from now on. */
unsigned region_process_next(void);
void region_process_begin(unsigned process);
/* In region_child.c: what a child leaves behind of what it has of its parent. Calls region_process_begin() last. */
void region_child_begins(void);

/* Looks, too. False: the calling thread has it, or is about to, and a handler interrupted that. errno stays as it is. */
bool region_lock(void);
void region_unlock(void);
/* The calling thread has it, or is on the way to it or from it. */
bool region_locking(void);

#endif
