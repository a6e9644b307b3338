/* SPDX-License-Identifier: MIT */
/*
 * A group of events on a thread or a CPU, enabled and disabled together, and read at one instant.
 */
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

/**
 * An open group. It belongs to the thread that opened it; open one per thread. A child after fork
 * does not have its parent's pages and must not use the parent's groups (exec closes them).
 */
struct tare_group;

/** Options of a group; add them for the `flags` of tare_group_open(). */
enum tare_group_flag {
	TARE_USER_READS =
		1,        /* read without a system call if possible; thread 0, not TARE_INHERIT */
	TARE_INHERIT = 2, /* also count threads and children created later */
	TARE_ENABLE_ON_EXEC = 4, /* start automatically when the thread calls execve */
	TARE_NEVER_SHARE =
		8 /* stay on the PMU whenever the thread runs, or fail: no multiplexing */
};

/**
 * Open all events of the list as one group, stopped.
 *
 * @events  the list; not kept.
 * @thread  a kernel thread id of this or another process (gettid, or a pid for the first thread);
 *          0 is the calling thread.
 * @flags   a sum of enum tare_group_flag.
 * @err     says which event could not be opened, why, and what would help; may be NULL.
 *
 * Returns the group, which the caller closes; NULL with err->code EACCES or EPERM (the hint names
 * the setting to change), ENOENT (no PMU counts it), EINVAL (does not fit on the PMU at once;
 * unknown flags), EMFILE, ESRCH (no such thread), ENOMEM. A group that opened may still never be
 * scheduled on the PMU; its readings then say so. From any thread. Costs two system calls per
 * event, three with TARE_USER_READS.
 *
 * Source: perf_event_open(2).
 */
TARE_API struct tare_group *tare_group_open(const struct tare_events *events, int thread,
					    unsigned flags, struct tare_error *err);

/**
 * The same for all threads that run on a CPU (0, 1, ...). The only valid flag is TARE_NEVER_SHARE.
 * Needs CAP_PERFMON or kernel.perf_event_paranoid 0.
 */
TARE_API struct tare_group *tare_group_open_cpu(const struct tare_events *events, int cpu,
						unsigned flags, struct tare_error *err);

/** Stop and close a group in any state; NULL does nothing. From any thread, once. */
TARE_API void tare_group_close(struct tare_group *g);

/** The number of readings that tare_group_read() returns: the tare_events_count() of its list. */
TARE_API size_t tare_group_size(const struct tare_group *g);

/**
 * Start counting; counts continue from their previous values. Returns 0 or a negative errno. Costs
 * one ioctl(2). From any thread.
 */
TARE_API int tare_group_start(struct tare_group *g, struct tare_error *err);

/**
 * Stop counting; counts stay readable. Returns 0 or a negative errno. Costs one ioctl(2). From any
 * thread.
 */
TARE_API int tare_group_stop(struct tare_group *g, struct tare_error *err);

/**
 * Read all counters of a group.
 *
 * @g    an open group, counting or stopped.
 * @out  room for tare_group_size(g) readings; filled in the order of the list. `raw` is the count
 *       since the group was opened; the two times are in ns. On -ENODATA every quality is
 *       TARE_UNAVAILABLE; on other errors the readings are undefined.
 * @err  says what went wrong; may be NULL.
 *
 * Returns 0; -ENODATA if the group was enabled and never scheduled on the PMU (no estimate exists);
 * -EIO if the kernel took the counters of a TARE_NEVER_SHARE group away. Call it from one thread at
 * a time. From the thread that opened the group it costs no system call if tare_group_user_reads()
 * says so; otherwise one read(2), which reads all counters at one instant.
 *
 * Source: perf_event_open(2), "Reading results"; linux/perf_event.h, struct perf_event_mmap_page.
 */
TARE_API int tare_group_read(struct tare_group *g, struct tare_reading *out,
			     struct tare_error *err);

/**
 * Read the count of one counter. Differences of two such reads are exact counts.
 *
 * @g      an open group.
 * @i      index of the event, below tare_group_size(g).
 * @count  since the group was opened. Written only on success.
 * @err    says what went wrong; may be NULL.
 *
 * Returns 0; -ENODATA if the group was off the PMU at any time, so that a plain count would be too
 * low (use tare_group_read()); -EIO as there; -EINVAL if i is too large. Call it from one thread at
 * a time. Costs about 65 instructions (bench/read.c) from the thread that opened the group with
 * TARE_USER_READS, while its counter is on the PMU; otherwise one read(2). Serialised before the
 * read (x86 `lfence`, arm64 `isb`).
 *
 * Source: linux/perf_event.h, struct perf_event_mmap_page.
 */
TARE_API int tare_group_count(struct tare_group *g, size_t i, uint64_t *count,
			      struct tare_error *err);

/**
 * Can the calling thread read this group without a system call at this moment?
 *
 * @g    an open group; a stopped one needs a system call.
 * @why  if not: the reason, and the command that helps, if any; may be NULL.
 *
 * From any thread. Costs no system call.
 */
TARE_API bool tare_group_user_reads(const struct tare_group *g, struct tare_error *why);

#ifdef __cplusplus
}
#endif
#endif
