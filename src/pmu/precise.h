/* SPDX-License-Identifier: MIT */
/*
 * Precise samples, by whichever hardware this machine has: what is wanted + machine -> events to record, and why those.
 * Pure but for reading sysfs and procfs.
 */
#ifndef PMU_PRECISE_H
#define PMU_PRECISE_H

#include "pmu/pmu.h"

enum precise_what { PRECISE_MEMORY, PRECISE_BRANCHES, PRECISE_FETCH, PRECISE_ALL, PRECISE_WHATS };

/* As users write them. */
extern const char *const precise_names[PRECISE_WHATS];

struct precise_question {
	enum precise_what what;
	bool all_cpus;	      /* CPUs are recorded, not tasks */
	uint32_t min_latency; /* cycles; 0: all loads */
	bool no_physical;     /* the kernel refused physical addresses */
};

struct precise_choice {
	char events[600];  /* as for -e */
	char why[240];	   /* "PEBS: loads of at least 3 cycles, and stores" */
	char refused[200]; /* what to do where the kernel refuses them; "" */
	uint64_t period;   /* events to a sample; 0: by frequency */
	uint64_t least;	   /* that a period may be; 0: any */
	uint64_t multiple; /* that periods must be of; 1 */
	bool registers;	   /* the samples bring the hardware's own (IBS) */
	bool weights;	   /* and several latencies in one word: Linux 5.12 */
	bool physical;	   /* physical addresses are asked for, which the kernel may refuse where all else is allowed */
	bool aux;	   /* what is sampled comes by AUX memory, not as samples (SPE) */
};

/* -ENOTSUP where no hardware of this machine tells it, or its kernel does not let it: err says why and what to do. */
int precise_choose(struct machine *m, const struct precise_question *q, struct precise_choice *out, struct tare_error *err);

/* The same by the exact engine. */
int precise_exact(const struct precise_question *q, struct precise_choice *out, struct tare_error *err);

#endif
