/* SPDX-License-Identifier: MIT */
/*
 * Precise samples, by the hardware that this machine has: question + machine -> events to record,
 * with the reason. No side effects, but reads sysfs and procfs.
 */
#ifndef PMU_PRECISE_H
#define PMU_PRECISE_H

#include "pmu/pmu.h"

enum precise_what { PRECISE_MEMORY, PRECISE_BRANCHES, PRECISE_FETCH, PRECISE_ALL, PRECISE_WHATS };

/* As users write them. */
extern const char *const precise_names[PRECISE_WHATS];

struct precise_question {
	enum precise_what what;
	bool all_cpus;        /* record CPUs, not tasks */
	uint32_t min_latency; /* cycles; 0: all loads */
	bool no_physical;     /* the kernel has refused physical addresses */
};

struct precise_choice {
	char events[600];  /* as for -e */
	char why[240];     /* "PEBS: loads of at least 3 cycles, and stores" */
	char refused[200]; /* remedy if the kernel refuses them; "" */
	uint64_t period;   /* events per sample; 0: by frequency */
	uint64_t least;    /* lower bound of the period; 0: none */
	uint64_t multiple; /* the period must be a multiple of this; 1 */
	bool registers;    /* the samples include the hardware's raw registers (IBS) */
	bool weights;      /* and several latencies in one word: Linux 5.12 */
	/*
	 * physical addresses are requested, which the kernel may refuse even if it allows
	 * everything else
	 */
	bool physical;
	bool aux; /* the data arrives in AUX memory, not as samples (SPE) */
};

/*
 * -ENOTSUP if this machine has no suitable hardware, or its kernel does not allow it: err has the
 * reason and a remedy.
 */
int precise_choose(struct machine *m, const struct precise_question *q, struct precise_choice *out,
		   struct tare_error *err);

/* The same for the exact engine. */
int precise_exact(const struct precise_question *q, struct precise_choice *out,
		  struct tare_error *err);

#endif
