/* SPDX-License-Identifier: MIT */
/* A number and its quality. */
#ifndef TARE_READING_H
#define TARE_READING_H

#include <stdint.h>
#include "tare/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The quality of a number, passed on from where it was read to where it is shown. */
enum tare_quality {
	TARE_UNAVAILABLE, /* no number: `raw` is undefined. Never shown as 0 */
	TARE_SCALED,      /* multiplexed: estimated from the fraction of time it was counted */
	TARE_SIMULATED,   /* by a model of the hardware */
	TARE_COUNTED,     /* by hardware or the kernel; may be off by known effects */
	TARE_EXACT        /* proved, or counted by construction */
};

/** One counter at one instant. */
struct tare_reading {
	uint64_t raw;        /* the count as read, not scaled */
	uint64_t enabled_ns; /* time it was enabled */
	uint64_t running_ns; /* time it was on the PMU; less than enabled_ns if multiplexed */
	enum tare_quality quality;
};

/**
 * The estimate for the whole enabled time: raw * enabled / running, rounded; raw if it was never
 * off the PMU. 0 with quality TARE_UNAVAILABLE: check the quality first.
 */
TARE_API uint64_t tare_reading_scaled(const struct tare_reading *r);

/** "exact", "counted", "scaled", "simulated", "unavailable". */
TARE_API const char *tare_quality_name(enum tare_quality q);

#ifdef __cplusplus
}
#endif
#endif
