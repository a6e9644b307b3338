/* SPDX-License-Identifier: MIT */
/*
 * Counters by the index that the kernel's page gives. src/arch/x86/pmc.h has the same functions;
 * the build picks the folder.
 */
#ifndef ARCH_PMC_H
#define ARCH_PMC_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include "tare/pmc.h"

/* What to type when user-space reads are switched off. */
#define PMC_SWITCH_PATH "/proc/sys/kernel/perf_user_access"
#define PMC_SWITCH_ON   "sysctl kernel.perf_user_access=1"

/* One routine per counter, 31 event counters and then the cycle counter; see pmc.c. */
extern const char pmc_routines[] __attribute__((visibility("hidden")));
enum { PMC_ROUTINE_BYTES = 16 };

/* index: one that tare_pmc_index_known() knows. */
static inline tare_pmc_handle pmc_handle(uint32_t index)
{
	return pmc_routines + PMC_ROUTINE_BYTES * (index - 1);
}

/*
 * Make the kernel allow user-space reads of this event: config1 bit 1 (rdpmc), and with `wide` bit
 * 0 (long: 64 bits, refused where the PMU has none). Only for events of the cores, whose config1
 * this is. Source: kernel documentation, "AArch64 Linux perf: Perf Userspace PMU Hardware Counter
 * Access".
 */
static inline bool pmc_ask(struct perf_event_attr *attr, bool wide)
{
	if (attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT ||
	    attr->type == PERF_TYPE_BREAKPOINT)
		return false;
	attr->config1 |= 2 | wide;
	return true;
}

#endif
