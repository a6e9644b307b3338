/* SPDX-License-Identifier: MIT */
/*
 * Events that write a record at each overflow. They are opened on tasks and CPUs, and their records
 * read from one ring per CPU (per thread, if a thread is followed on any CPU). Takes attributes
 * that are ready to be opened, gives the kernel's records unchanged.
 *
 * A ring belongs to an event of its own that counts nothing, so that a larger one can replace it
 * while the others continue: the kernel redirects an event's output only while that event is not
 * mapped. Source: perf_event_open(2), PERF_EVENT_IOC_SET_OUTPUT; linux kernel/events/core.c,
 * perf_event_set_output().
 */
#ifndef SOURCE_SAMPLER_H
#define SOURCE_SAMPLER_H

#include "source/aux_ring.h"
#include "source/ring.h"
#include "source/source.h"

struct sampled {
	const struct encoding *enc; /* its name, for messages */
	struct perf_event_attr attr;
	size_t leader; /* index of its group's first event, or its own */
	uint64_t *ids; /* set when it is opened; the caller frees them */
	size_t n_ids;
	bool aux; /* its data arrives in an AUX area, not as records */
};

struct sampler_options {
	size_t ring_bytes; /* initial data size of one ring: a power-of-two number of pages */
	size_t ring_most;  /* maximum size */
	/* for the times in the records; -1: the kernel's default. As in every attr */
	int clockid;
	/*
	 * size of each AUX area, a power-of-two number of pages: less if the memory lock limit
	 * requires it
	 */
	size_t aux_bytes;
};

/* What an event counted so far, in all places it was opened in. */
struct sampler_total {
	uint64_t value, enabled_ns, running_ns;
	uint64_t lost; /* records that did not fit the ring */
	bool lost_known;
};

struct sampler;

/* Features of the kernel that are newer than Linux 5.10. */
bool sampler_counts_lost(void);     /* PERF_FORMAT_LOST: Linux 6.0 */
bool sampler_reads_inherited(void); /* PERF_SAMPLE_READ with inherit: Linux 6.12 */

int sampler_new(struct sampler **out, const struct sampler_options *o, struct tare_error *err);
/*
 * Open events[at[0]] to events[at[n - 1]] on one target, each leader before its members: their
 * records are read from the ring of its CPU. *failed (may be NULL): the index in events of one that
 * could not be opened.
 */
int sampler_add(struct sampler *s, struct sampled *events, const size_t *at, size_t n,
		const struct target *on, size_t *failed, struct tare_error *err);
/* `only`: start this event; NULL: all. */
int sampler_start(struct sampler *s, const struct sampled *only, struct tare_error *err);
int sampler_stop(struct sampler *s, struct tare_error *err);
/* For poll(2): readable when a ring is a quarter full. */
int sampler_fd(const struct sampler *s);
/* Read all available records, and enlarge rings that were nearly full. Bytes, or -errno. */
int64_t sampler_drain(struct sampler *s, ring_take *take, void *with, struct tare_error *err);
/*
 * Read the AUX areas, one piece each; events that were stopped by a full one continue. Call after
 * sampler_drain(): the records describe the bytes. Bytes, or -errno.
 */
int64_t sampler_drain_aux(struct sampler *s, aux_take *take, void *with, struct tare_error *err);
/*
 * Converts the counter of the hardware's time stamps to the kernel's clock. Source:
 * linux/perf_event.h, cap_user_time_zero.
 */
struct sampler_clock {
	uint64_t shift, mult, zero, cycles, mask;
	bool is_short; /* the counter is narrower than 64 bits: cycles and mask count */
};
/* False: the kernel does not provide it. */
bool sampler_clock(const struct sampler *s, struct sampler_clock *out);
/* Records were lost: every ring grows at the next drain, up to its maximum. */
void sampler_want_room(struct sampler *s);
/* What one event counted so far, while it is open. */
int sampler_total(struct sampler *s, const struct sampled *event, struct sampler_total *out,
		  struct tare_error *err);
/*
 * Size of the largest ring now; how often one grew; whether one could not because of the memory
 * lock limit.
 */
struct sampler_rings {
	size_t n, largest, grown;
	size_t aux; /* bytes of the smallest AUX area; 0: none */
	bool limited;
};
struct sampler_rings sampler_rings(const struct sampler *s);
void sampler_close(struct sampler *s);

#endif
