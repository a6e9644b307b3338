/* SPDX-License-Identifier: MIT */
/* The buffer size needed so that no sample is lost until it is read. Pure. */
#ifndef SAMPLE_RING_SIZE_H
#define SAMPLE_RING_SIZE_H

#include "source/sampler.h"

struct ring_size {
	uint64_t
		/*
		 * samples of an event per second on one CPU before the kernel throttles it; 0: not
		 * known
		 */
		rate_most;
	size_t least, most; /* bounds of the buffer size in bytes; powers of two */
};

/*
 * The maximum size of one sample in bytes, with its header. `members`: events that are read with
 * it.
 */
size_t sample_bytes(const struct perf_event_attr *attr, size_t members);

/*
 * The maximum samples per second on one CPU; 0: no bound is known (software events other than
 * clocks, tracepoints).
 */
uint64_t sample_rate(const struct perf_event_attr *attr, uint64_t rate_most);

/*
 * The buffer size of a CPU in bytes, a power of two: it has room for what these n events write
 * while tare, woken when a quarter is full, waits for a CPU. Events with no known rate are not
 * counted: their buffers grow when they fill.
 */
size_t sample_ring_bytes(const struct sampled *event, size_t n, const struct ring_size *room);

#endif
