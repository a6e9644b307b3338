/* SPDX-License-Identifier: MIT */
/* Shared by the files that try to count; only for src/host/probe*.c. */
#ifndef HOST_PROBE_H
#define HOST_PROBE_H

#include <linux/perf_event.h>
#include "host/host.h"

enum { PROBE_TURNS = 200000 }; /* of cpu_loop: about 0.1 ms */

/*
 * `first` was counted around PROBE_TURNS turns, `second` around twice as many: the difference is
 * free of the overhead of a reading. 1 % of tolerance for interrupts, which some CPUs count.
 */
static inline void probe_loop_bounds(struct attempt *a, uint64_t first, uint64_t second)
{
	const uint64_t exactly = (uint64_t)PROBE_TURNS * CPU_LOOP_INSTRUCTIONS;

	a->count = second > first ? second - first : 0;
	a->low = exactly - exactly / 100;
	a->high = exactly + exactly / 100;
}

/* Read `attr`, user-mode instructions of this thread, without a system call. */
struct attempt probe_user_read(struct perf_event_attr attr);

#endif
