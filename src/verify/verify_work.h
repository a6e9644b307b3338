/* SPDX-License-Identifier: MIT */
/*
 * Counts work of known size with an event, and collects the count of each piece.
 * src/verify/verify.h judges them.
 */
#ifndef VERIFY_VERIFY_WORK_H
#define VERIFY_VERIFY_WORK_H

#include "verify/calibration.h"

/* One piece of work, counted once. */
struct verify_sample {
	uint64_t length; /* iterations, pages, ... */
	bool expects;    /* `expected` is known for this event */
	uint64_t expected;
	uint64_t count;
	uint64_t ns, enabled_ns, running_ns;
	uint64_t
		/*
		 * of this CPU during the work, and shortly before and after: at most this many hit
		 * the work
		 */
		interrupts;
	uint64_t faults;   /* caused by the work */
	bool by_itself;    /* `expected` is the same event's count of the same work without them */
	unsigned kind;     /* of work, numbered as in verify/calibration.h; 0: the loop */
	uint64_t syscalls; /* caused by the work */
	uint64_t again;    /* for pages: the event's count when the same ones were touched again */
	uint64_t interrupts_again; /* meanwhile */
	bool counted_before; /* the event counted something when the same was done to warm up */
};

enum { VERIFY_SAMPLES_MOST = 320 };

/* The class that verify_work takes for an event of unknown meaning. */
enum { WORK_UNKNOWN = -1 };

/* Fills in what an event of that class (or WORK_UNKNOWN) should have counted. */
void verify_expect(struct verify_sample *s, size_t n, int class);

/*
 * Makes the calling thread do the work, and counts it with `source`. `class`: what the event should
 * count, an enum work_class or WORK_UNKNOWN. Takes about 100 ms. `samples` has room for
 * VERIFY_SAMPLES_MOST; returns the number of samples, or a negative errno: the event cannot be
 * counted. `interrupts_known` is false if /proc/interrupts does not list that CPU.
 */
int verify_work(struct verify_sample *samples, const struct encoding *event, int class,
		const struct source *source, struct calibration *w, bool *interrupts_known,
		struct tare_error *err);

#endif
