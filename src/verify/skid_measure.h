/* SPDX-License-Identifier: MIT */
/*
 * Samples tare's own thread in a loop with known causes of events: a table of events, and the
 * places of their samples.
 */
#ifndef VERIFY_SKID_MEASURE_H
#define VERIFY_SKID_MEASURE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include "arch/skid.h"
#include "base/error.h"

struct skid_event {
	const char *name;
	bool hardware;
	enum skid_which loop;
	uint32_t type;
	uint64_t config;
	uint64_t period, turns; /* iterations of the loop, each causes one event */
	bool faults;            /* each iteration touches a new page */
};

extern const struct skid_event skid_events[]; /* terminated by a name of NULL */

/* Called with each sample's address and time. A negative result stops. */
typedef int skid_sample_fn(void *with, uint64_t ip, uint64_t time_ns);

/*
 * 0, or a negative errno: -ENOENT no PMU counts it, -EOPNOTSUPP not at this level, ...; `level` is
 * precise_ip.
 */
int skid_measure(const struct skid_event *e, unsigned level, skid_sample_fn *each, void *with,
		 struct tare_error *err);

/*
 * A timer that samples its own thread every `period` ns while it is busy for a fifth of a second.
 */
int skid_measure_clock(uint64_t period, skid_sample_fn *each, void *with, struct tare_error *err);

#endif
