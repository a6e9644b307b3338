/* SPDX-License-Identifier: MIT */
/* Count: a group of events on a thread or a CPU, all on and off together, read at one instant. */
#ifndef TARE_GROUP_H
#define TARE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tare/error.h"
#include "tare/event.h"
#include "tare/reading.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An open group. It belongs to the thread that opened it; give every thread its own. A child after
 *  fork has none of its parent's pages, and must leave its groups alone (exec closes them). */
struct tare_group;

/** How a group counts; added up in the `flags` of tare_group_open(). */
enum tare_group_flag {
	TARE_USER_READS =
	    1, /* read without a system call where that can be; thread 0, not TARE_INHERIT */
	TARE_INHERIT = 2,        /* count threads and children born later, too */
	TARE_ENABLE_ON_EXEC = 4, /* start by itself when the thread calls execve */
	TARE_NEVER_SHARE =
	    8 /* stay on the PMU whenever the thread runs, or fail: never multiplexed */
};

/**
 * Open all events of the list as one group, stopped.
 *
 * @events  the list; not kept.
 * @thread  a thread of this or another process by its kernel number (gettid, or a pid for the first
 *          thread); 0 is the calling thread.
 * @flags   a sum of enum tare_group_flag.
 * @err     says which event could not be opened, why, and what would help; may be NULL.
 *
 * Returns the group, which the caller closes; NULL with err->code EACCES or EPERM (the hint names
 * the knob), ENOENT (no PMU counts it), EINVAL (does not fit on the PMU at once; unknown flags),
 * EMFILE, ESRCH (no such thread), ENOMEM. A group may open and still never get onto the PMU:
 * readings say so. From any thread. Costs two system calls per event, three with TARE_USER_READS.
 *
 * Source: perf_event_open(2).
 */
TARE_API struct tare_group *tare_group_open(const struct tare_events *events, int thread,
					    unsigned flags, struct tare_error *err);

/** The same for everything that runs on a CPU (0, 1, ...), by whichever thread. `flags` may hold
 *  TARE_NEVER_SHARE only. Needs CAP_PERFMON or kernel.perf_event_paranoid 0. */
TARE_API struct tare_group *tare_group_open_cpu(const struct tare_events *events, int cpu,
						unsigned flags, struct tare_error *err);

/** Stop and close a group, whatever its state; NULL does nothing. From any thread, once. */
TARE_API void tare_group_close(struct tare_group *g);

/** How many readings tare_group_read() gives: the tare_events_count() of its list. */
TARE_API size_t tare_group_size(const struct tare_group *g);

/** Start counting; counts go on from where they were. Returns 0 or a negative errno. Costs one
 *  ioctl(2). From any thread. */
TARE_API int tare_group_start(struct tare_group *g, struct tare_error *err);

/** Stop counting; counts stay readable. Returns 0 or a negative errno. Costs one ioctl(2). From any
 *  thread. */
TARE_API int tare_group_stop(struct tare_group *g, struct tare_error *err);

/**
 * Read all counters of a group.
 *
 * @g    an open group, counting or stopped.
 * @out  room for tare_group_size(g) readings; filled in the order of the list. `raw` is a count
 * since the group was opened; the two times are in ns. On -ENODATA every quality is
 *       TARE_UNAVAILABLE; on other errors they mean nothing.
 * @err  says what went wrong; may be NULL.
 *
 * Returns 0; -ENODATA if the group was meant to count and never got onto the PMU (no estimate
 * exists); -EIO if the kernel took the counters of a TARE_NEVER_SHARE group away.
 * Call it from one thread at a time; from the thread that opened the group it costs no system call
 * when tare_group_user_reads() says so, else one read(2), which reads all counters at one instant.
 *
 * Source: perf_event_open(2), "Reading results"; linux/perf_event.h, struct perf_event_mmap_page.
 */
TARE_API int tare_group_read(struct tare_group *g, struct tare_reading *out,
			     struct tare_error *err);

/**
 * Read one counter, the count and nothing else: differences of two such reads are exact counts.
 *
 * @g      an open group.
 * @i      which event, below tare_group_size(g).
 * @count  since the group was opened. Written only on success.
 * @err    says what went wrong; may be NULL.
 *
 * Returns 0; -ENODATA if the group was off the PMU for some of its time (then a bare count would
 * mislead: see tare_group_read()); -EIO as there; -EINVAL for an i too large.
 * Call it from one thread at a time. Costs about 65 instructions (bench/read.c) from the thread
 * that opened the group with TARE_USER_READS, while its counter is on the PMU; else one read(2).
 * Serialised before the read (x86 `lfence`, arm64 `isb`).
 *
 * Source: linux/perf_event.h, struct perf_event_mmap_page.
 */
TARE_API int tare_group_count(struct tare_group *g, size_t i, uint64_t *count,
			      struct tare_error *err);

/**
 * Whether the calling thread reads this group without a system call at this moment.
 *
 * @g    an open group; a stopped one is read by a system call.
 * @why  if not: the reason, and what to type where that helps; may be NULL.
 *
 * From any thread. Costs no system call.
 */
TARE_API bool tare_group_user_reads(const struct tare_group *g, struct tare_error *why);

#ifdef __cplusplus
}
#endif
#endif
