/* SPDX-License-Identifier: MIT */
/*
 * Counting by registers: the source "msr" of source/source.h, and settings that do not fit that
 * interface.
 */
#ifndef MSR_MSR_H
#define MSR_MSR_H

#include "source/source.h"

/*
 * Set before the first open; the strings must live as long as the program. Each may be NULL: see
 * registers_open() and msr_cpu_for().
 */
struct msr_how {
	const char *via, *root, *cpu;
};
void source_msr_how(const struct msr_how *how);

/* The way by which registers were last opened; NULL: never. */
const char *source_msr_via(void);

/*
 * The registers with an open group's counts while it runs: for another process that reads them
 * itself by registers_run().
 */
struct msr_counts {
	const char *via, *root;
	unsigned maker;
	uint32_t counter[8];
	uint64_t mask; /* the bits common to all of them */
};
/* -E2BIG: there are more. */
int source_msr_counts(const struct counters *c, struct msr_counts *out);

#endif
