/* SPDX-License-Identifier: MIT */
/* Counting by registers: the source "msr" of source/source.h, and what it cannot be told through that. */
#ifndef MSR_MSR_H
#define MSR_MSR_H

#include "source/source.h"

/* Before the first open; the words live as long as the program. Each may be NULL: as registers_open() and msr_cpu_for() have it. */
struct msr_how {
	const char *via, *root, *cpu;
};
void source_msr_how(const struct msr_how *how);

/* By which way registers were last opened; NULL: they never were. */
const char *source_msr_via(void);

/* Where an open group's counts stand while it runs: for another process, which may read them by registers_run() itself. */
struct msr_counts {
	const char *via, *root;
	unsigned maker;
	uint32_t counter[8];
	uint64_t mask; /* of the bits that all of them have */
};
/* -E2BIG: more than those. */
int source_msr_counts(const struct counters *c, struct msr_counts *out);

#endif
