/* SPDX-License-Identifier: MIT */
/*
 * The regions of a recording as a profile: the self cost of each stack of regions, one column per
 * counter, one task per thread. Memory grows with the number of distinct stacks, not with the size
 * of the recording.
 */
#ifndef REGIONS_REGION_PROFILE_H
#define REGIONS_REGION_PROFILE_H

#include "profile/call_tree.h"
#include "regions/timeline/timeline.h"

enum {
	REGION_PROFILE_MAX = 1 << 22, /* distinct stacks */
	REGION_DEPTH_MAX = 2048,      /* deeper regions count to the region at this depth */
};

struct region_profile_losses {
	uint64_t lost;     /* points missing in the recording, as far as known */
	uint64_t too_deep; /* regions deeper than REGION_DEPTH_MAX */
	/* regions with a counter that could not be read; its count is in no stack */
	uint64_t missing;
	/* regions in which a counter decreased; its count is in no stack either */
	uint64_t backwards;
};

/*
 * Fill an empty profile. A row's `samples` is the number of ended regions with that stack, its
 * `amount` their self cost. The cost between a thread's outermost regions is the root's self cost.
 * Arguments are left out. A frame's function is the label's name, its module the label's kind.
 */
int region_profile(struct call_tree *s, struct timeline *t, struct region_profile_losses *told,
		   struct tare_error *err);

#endif
