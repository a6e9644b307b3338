/* SPDX-License-Identifier: MIT */
/*
 * Counters by the index in the kernel's page. src/arch/arm64/pmc.h has the same functions; the
 * build selects the folder.
 */
#ifndef ARCH_PMC_H
#define ARCH_PMC_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include "tare/pmc.h"

/* The setting that enables user-space reads. */
#define PMC_SWITCH_PATH "/sys/bus/event_source/devices/cpu/rdpmc"
#define PMC_SWITCH_ON   "echo 1 > " PMC_SWITCH_PATH

/* index: valid according to tare_pmc_index_known(). */
static inline tare_pmc_handle pmc_handle(uint32_t index)
{
	return index - 1;
}

/*
 * Request user-space reads of this event from the kernel. x86 allows them for every event of core
 * PMUs, but the register must contain a count; a topdown metric's contains fractions (pseudo event
 * 0x00, umask 0x80 and up. Source: Intel SDM vol. 3B, "PERF_METRICS MSR"; kernel,
 * arch/x86/include/asm/perf_event.h, INTEL_TD_METRIC_*).
 */
static inline bool pmc_ask(struct perf_event_attr *attr, bool wide)
{
	(void)wide;
	if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE)
		return true;
	if (attr->type != PERF_TYPE_RAW && attr->type <= PERF_TYPE_BREAKPOINT)
		return false;
	return (attr->config & 0xff) != 0 || (attr->config >> 8 & 0xff) < 0x80;
}

#endif
