/* SPDX-License-Identifier: MIT */
/* How large a buffer must be so that no sample is lost while nobody reads it. Pure. */
#ifndef SAMPLE_SAMPLE_ROOM_H
#define SAMPLE_SAMPLE_ROOM_H

#include "source/sampler.h"

struct sample_room {
	uint64_t rate_most; /* samples of an event a second on one CPU, before the kernel pauses it; 0: not known */
	size_t least, most; /* bytes that the buffer may have; powers of two */
};

/* Bytes of one sample at most, its header included. `members`: events that are read with it. */
size_t sample_bytes(const struct perf_event_attr *attr, size_t members);

/* Samples a second on one CPU at most; 0: no bound is known (software events but the clocks, tracepoints). */
uint64_t sample_rate(const struct perf_event_attr *attr, uint64_t rate_most);

/*
 * Bytes of a CPU's buffer, a power of two: what these n events write while tare, woken when a quarter of it is full, waits for a CPU.
 * Events of no known rate take nothing: their buffers grow when they fill.
 */
size_t sample_ring_bytes(const struct sampled *event, size_t n, const struct sample_room *room);

#endif
