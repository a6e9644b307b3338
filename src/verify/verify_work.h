/* SPDX-License-Identifier: MIT */
/* An event, set to count work of known size: what it said of each piece. src/verify/verify.h judges it. */
#ifndef VERIFY_VERIFY_WORK_H
#define VERIFY_VERIFY_WORK_H

#include "verify/workshop.h"

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
	unsigned kind;	     /* of work, as verify/workshop.h numbers them; 0: the loop */
	uint64_t syscalls;   /* that the work made */
	uint64_t again;	     /* of pages: what the event counted when the same ones were touched again */
	uint64_t interrupts_again; /* meanwhile */
	bool counted_before; /* the event counted something when the same was done to warm up */
};

enum { VERIFY_SAMPLES_MOST = 320 };

/* What verify_work takes as class of an event of which it is not known what it counts. */
enum { WORK_UNKNOWN = -1 };

/* Fill in what an event of that class (or WORK_UNKNOWN) should have counted. */
void verify_expect(struct verify_sample *s, size_t n, int class);

/*
 * Have the calling thread do the work, and count it by `source`. `class`: what the event is meant to count, an enum work_class or
 * WORK_UNKNOWN. Some 100 ms. `samples` has room for VERIFY_SAMPLES_MOST; returns how many, or a negative errno: the event cannot be
 * counted. `interrupts_known` is false where /proc/interrupts does not tell of that CPU.
 */
int verify_work(struct verify_sample *samples, const struct encoding *event, int class, const struct source *source, struct workshop *w,
		bool *interrupts_known, struct tare_error *err);

#endif
