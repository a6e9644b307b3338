/* SPDX-License-Identifier: MIT */
/* The events of the PMU exact/: the exact engine's classes, in their order. */
#ifndef PMU_EXACT_EVENTS_H
#define PMU_EXACT_EVENTS_H

#include <stddef.h>

struct exact_event {
	const char *name, *about;
};

enum { EXACT_EVENTS = 18 };

extern const struct exact_event exact_events[EXACT_EVENTS];

#endif
