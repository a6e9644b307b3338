/* SPDX-License-Identifier: MIT */
/*
 * The regions of a recording as a profile: each stack of regions with what it cost by itself, a column for each
 * counter, a task for each thread. Memory grows with the number of different stacks, not with the recording.
 */
#ifndef REGIONS_REGION_STACKS_H
#define REGIONS_REGION_STACKS_H

#include "profile/stacks.h"
#include "regions/timeline/timeline.h"

enum {
	REGION_STACKS_MAX = 1 << 22, /* different stacks */
	REGION_DEPTH_MAX = 2048,     /* what is deeper counts to the region at that depth */
};

struct region_stacks_told {
	uint64_t lost;	    /* points missing in the recording, as far as it says */
	uint64_t too_deep;  /* regions deeper than REGION_DEPTH_MAX */
	uint64_t missing;   /* regions of which a counter could not be read: its count is in no stack */
	uint64_t backwards; /* regions with a counter that ran backwards: in no stack either */
};

/*
 * Into an empty profile. A row's `samples` is how often a region of that stack ended, its `amount` what the counter
 * said of it and of no region inside. What lies between a thread's outermost regions is the root's own.
 * Arguments are left out. A frame's function is the label's name, its module the label's kind.
 */
int region_stacks(struct stacks *s, struct timeline *t, struct region_stacks_told *told, struct tare_error *err);

#endif
