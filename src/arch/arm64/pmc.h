/* SPDX-License-Identifier: MIT */
/*
 * Counters by the index in the kernel's page. src/arch/x86/pmc.h has the same functions; the build
 * selects the folder.
 */
#ifndef ARCH_PMC_H
#define ARCH_PMC_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include "tare/pmc.h"

/* The setting that enables user-space reads. */
#define PMC_SWITCH_PATH "/proc/sys/kernel/perf_user_access"
#define PMC_SWITCH_ON   "sysctl kernel.perf_user_access=1"

/* One routine per counter, 31 event counters and then the cycle counter; see pmc.c. */
extern const char pmc_routines[] __attribute__((visibility("hidden")));
enum { PMC_ROUTINE_BYTES = 16 };

/* index: valid according to tare_pmc_index_known(). */
static inline tare_pmc_handle pmc_handle(uint32_t index)
{
	return pmc_routines + PMC_ROUTINE_BYTES * (index - 1);
}

/*
 * Request user-space reads of this event from the kernel: config1 bit 1 (rdpmc), and with `wide`
 * bit 0 (long: 64 bits, refused if the PMU has none). Only for events of core PMUs, which define
 * config1 this way. Source: kernel documentation, "AArch64 Linux perf: Perf Userspace PMU Hardware
 * Counter Access".
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
