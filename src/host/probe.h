/* SPDX-License-Identifier: MIT */
/* What the files that try to count share; for src/host/probe*.c alone. */
#ifndef HOST_PROBE_H
#define HOST_PROBE_H

#include <linux/perf_event.h>
#include "host/host.h"

enum { PROBE_TURNS = 200000 }; /* of cpu_loop: some 0.1 ms */

/*
 * `first` was counted around PROBE_TURNS turns, `second` around twice as many: in the difference of
 * the two whatever a reading costs drops out. One part in 100 is room for interrupts, which some
 * CPUs count.
 */
static inline void probe_loop_bounds(struct attempt *a, uint64_t first, uint64_t second)
{
	const uint64_t exactly = (uint64_t)PROBE_TURNS * CPU_LOOP_INSTRUCTIONS;

	a->count = second > first ? second - first : 0;
	a->low = exactly - exactly / 100;
	a->high = exactly + exactly / 100;
}

/* Read `attr`, instructions in user mode of this thread, without a system call. */
struct attempt probe_user_read(struct perf_event_attr attr);

#endif
