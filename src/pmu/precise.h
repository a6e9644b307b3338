/* SPDX-License-Identifier: MIT */
/*
 * Precise samples, by whichever hardware this machine has: what is wanted + machine -> events to record, and why those.
 * Pure but for reading sysfs.
 */
#ifndef PMU_PRECISE_H
#define PMU_PRECISE_H

#include "pmu/pmu.h"

enum precise_what { PRECISE_MEMORY, PRECISE_BRANCHES, PRECISE_FETCH, PRECISE_ALL, PRECISE_WHATS };

/* As users write them. */
extern const char *const precise_names[PRECISE_WHATS];

struct precise_choice {
	char events[512]; /* as for -e */
	char why[320];    /* "PEBS of cpu: loads that take ..., stores" */
};

/*
 * -ENOTSUP where no hardware of this machine tells it; -EPERM where the running kernel gives it only to other
 * recordings: err says why and what to do. `all_cpus`: CPUs are recorded, not tasks.
 */
int precise_choose(struct machine *m, enum precise_what what, bool all_cpus, struct precise_choice *out,
		   struct tare_error *err);

/* The same by the exact engine. */
int precise_exact(enum precise_what what, struct precise_choice *out, struct tare_error *err);

#endif
