/* SPDX-License-Identifier: MIT */
/* For aggregate.c only. */
#ifndef REGIONS_AGGREGATE_COUNTERS_H
#define REGIONS_AGGREGATE_COUNTERS_H

#include "regions/aggregate.h"

/* The counters that all runs have, with room for their lists. -EINVAL where they have not the same. */
int aggregate_take_counters(struct aggregate *a, struct timeline **timelines, struct tare_error *err);

#endif
