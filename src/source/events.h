/* SPDX-License-Identifier: MIT */
/* The list of events that users of the library hold. */
#ifndef SOURCE_EVENTS_H
#define SOURCE_EVENTS_H

#include "pmu/pmu.h"

struct tare_events {
	struct encoding_list list;
};

/*
 * The encodings as one group for a source's open(): pointers into the list, except the leader,
 * which is copied to *leader so that it may be changed. 0, or -errno if they cannot be one group.
 */
int events_as_group(const struct tare_events *events, const struct encoding ***out,
		    struct encoding *leader, struct tare_error *err);

#endif
