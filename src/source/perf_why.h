/* SPDX-License-Identifier: MIT */
/* Explains an errno of perf_event_open(2), with the event, the target and the knob. */
#ifndef SOURCE_PERF_WHY_H
#define SOURCE_PERF_WHY_H

#include "source/source.h"

/* The request that was refused. */
struct perf_ask {
	const struct encoding *enc;
	const struct perf_event_attr *attr; /* as passed */
	const struct target *on;
	size_t index, n; /* index of the event in the group, and size of the group */
};

/* Fill err and return -code. */
int perf_why(struct tare_error *err, int code, const struct perf_ask *ask);

/*
 * 0, or why its number would be wrong with its modifiers, before it is opened: it would always be
 * 0, or include what they exclude (see encoding_modes()). For the hint, asks the kernel whether it
 * would count with the kernel included.
 */
int perf_modes_fail(const struct perf_ask *ask, struct tare_error *err);

/*
 * The highest kernel.perf_event_paranoid with which an unprivileged user may open this: 2, 1, 0 or
 * -1. Source: kernel documentation, "Perf events and tool security".
 */
int perf_paranoid_for(const struct perf_event_attr *attr, const struct target *on);

#endif
