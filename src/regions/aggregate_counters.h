/* SPDX-License-Identifier: MIT */
/* Private to aggregate.c. */
#ifndef REGIONS_AGGREGATE_COUNTERS_H
#define REGIONS_AGGREGATE_COUNTERS_H

#include "regions/aggregate.h"

/*
 * Set up the counters common to all runs, with room for their lists. -EINVAL if the runs have
 * different counters.
 */
int aggregate_take_counters(struct aggregate *a, struct timeline **timelines,
			    struct tare_error *err);

#endif
