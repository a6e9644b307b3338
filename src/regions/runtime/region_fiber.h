/* SPDX-License-Identifier: MIT */
/*
 * Fibers (tare/fiber.h): each has a stream, and the thread that it runs on has the counters. What
 * region.c and region_stream.c ask when a stream begins or a thread ends; all on the calling
 * thread, which holds its place.
 */
#ifndef REGIONS_RUNTIME_REGION_FIBER_H
#define REGIONS_RUNTIME_REGION_FIBER_H

#include "regions/runtime/region_stream.h"

/*
 * A new stream: of the fiber that runs, and with the thread's counters. False: the thread has none
 * yet.
 */
bool region_fiber_begin(struct region_stream *s);
/*
 * The thread has no stream. That of its fiber in recording r (NULL: none), if there is one, becomes
 * the thread's.
 */
struct region_stream *region_fiber_settle(struct region_recording *r);
/* The thread's own stream becomes its stream again, and what else it has is closed. */
void region_fiber_thread_ends(void);
/* The thread's counters go from one stream to another. */
bool region_fiber_switching(void);
/* What at_thread_end has instead of a stream. */
const void *region_fiber_at_end(void);

#endif
