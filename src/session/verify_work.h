/* SPDX-License-Identifier: MIT */
/* An event, set to count work of known size: what it said of each piece. src/analyze/verify.h judges it. */
#ifndef SESSION_VERIFY_WORK_H
#define SESSION_VERIFY_WORK_H

#include <stdbool.h>
#include <stdint.h>
#include "source/source.h"

/* One piece of work, counted once. */
struct verify_sample {
	uint64_t length;   /* turns, pages, ... */
	bool expects;	   /* `expected` is known for this event */
	uint64_t expected;
	uint64_t count;
	uint64_t ns, enabled_ns, running_ns;
	uint64_t interrupts; /* of this CPU meanwhile, and a little before and after: at most so many hit the work */
	uint64_t faults;     /* that the work made */
	bool by_itself;	     /* `expected` is what the same event counted of the same work without them */
};

enum { VERIFY_SAMPLES_MOST = 64 };

/*
 * Have the calling thread do the work, on one CPU (one of the event's, where it has some), and count it by `source`. Some
 * 50 ms. `samples` has room for VERIFY_SAMPLES_MOST; returns how many, or a negative errno: the event cannot be counted.
 * `interrupts_known` is false where /proc/interrupts does not tell of that CPU.
 */
int verify_work(struct verify_sample *samples, const struct encoding *event, const struct source *source, bool *interrupts_known,
		struct tare_error *err);

#endif
