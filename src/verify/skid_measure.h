/* SPDX-License-Identifier: MIT */
/* Sampling tare's own thread in a loop of known causes: rows of events, and where their samples lay. */
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
	uint64_t period, turns; /* turns of the loop, each causing one event */
	bool faults;		/* each turn touches a page for the first time */
};

extern const struct skid_event skid_events[]; /* ends with a name of NULL */

/* Every sample's place and time. Below 0: stop. */
typedef int skid_sample_fn(void *with, uint64_t ip, uint64_t time_ns);

/* 0, or a negative errno: -ENOENT no PMU counts it, -EOPNOTSUPP not at this level, ...; `level` is precise_ip. */
int skid_measure(const struct skid_event *e, unsigned level, skid_sample_fn *each, void *with, struct tare_error *err);

/* A timer that samples its own thread, busy for a fifth of a second, every `period` ns. */
int skid_measure_clock(uint64_t period, skid_sample_fn *each, void *with, struct tare_error *err);

#endif
