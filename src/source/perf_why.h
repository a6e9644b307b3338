/* SPDX-License-Identifier: MIT */
/* What perf_event_open(2) means by an errno, in words that name the event, the target and the knob.
 */
#ifndef SOURCE_PERF_WHY_H
#define SOURCE_PERF_WHY_H

#include "source/source.h"

/* What was asked when it was refused. */
struct perf_ask {
	const struct encoding *enc;
	const struct perf_event_attr *attr; /* as passed */
	const struct target *on;
	size_t index, n; /* which of how many events of the group */
};

/* Fill err and return -code. */
int perf_why(struct tare_error *err, int code, const struct perf_ask *ask);

/*
 * 0, or why its number would be wrong under its modifiers, before it is opened: it would stay 0 for ever, or hold what they leave out
 * (see encoding_modes()). Asks the kernel whether it would count with the kernel what is of the kernel, which the hint tells.
 */
int perf_modes_fail(const struct perf_ask *ask, struct tare_error *err);

/*
 * The highest kernel.perf_event_paranoid that lets an unprivileged user open this: 2, 1, 0 or -1.
 * Source: kernel documentation, "Perf events and tool security".
 */
int perf_paranoid_for(const struct perf_event_attr *attr, const struct target *on);

#endif
