/* SPDX-License-Identifier: MIT */
/* Counting by registers: the source "msr" of source/source.h, and what it cannot be told through that. */
#ifndef SOURCE_MSR_H
#define SOURCE_MSR_H

#include "source/source.h"

/* Before the first open; the words live as long as the program. Each may be NULL: as registers_open() and msr_cpu_for() have it. */
struct msr_how {
	const char *via, *root, *cpu;
};
void source_msr_how(const struct msr_how *how);

#endif
