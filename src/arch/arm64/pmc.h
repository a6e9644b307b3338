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
enum { PMC_ROUTINE_BYTES = 16, PMC_COUNTERS = 32 };

/* Index n + 1 is event counter n, 32 the cycle counter; 0 (no counter) wraps and is not known. */
static inline bool pmc_index_known(uint32_t index)
{
	return index - 1 < PMC_COUNTERS;
}

/* index: one that pmc_index_known() knows. */
static inline tare_pmc_handle pmc_handle(uint32_t index)
{
	return pmc_routines + PMC_ROUTINE_BYTES * (index - 1);
}

#ifdef __ARM_FEATURE_BTI_DEFAULT
#define PMC_LAND "bti j\n\t"
#define PMC_STEP "4"
#define PMC_PAD  "nop\n\t"
#else
#define PMC_LAND ""
#define PMC_STEP "3"
#define PMC_PAD  ""
#endif

/* A jump into a table of reads: in place, so that no link register need be saved. */
static inline __attribute__((always_inline)) uint64_t pmc_read_index(uint32_t index)
{
	uint64_t value, at = index - 1;

	__asm__ volatile(
	    "isb\n\t"
	    "adr %0, 1f\n\t"
	    "add %0, %0, %1, lsl #" PMC_STEP "\n\t"
	    "br %0\n\t"
	    "1:\n\t"
	    ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,"
	    "27,28,29,30\n\t" PMC_LAND "mrs %0, pmevcntr\\n\\()_el0\n\t"
	    "b 2f\n\t" PMC_PAD ".endr\n\t" PMC_LAND "mrs %0, pmccntr_el0\n\t"
	    "2:"
	    : "=&r"(value)
	    : "r"(at)
	    : "memory");
	return value;
}

/* Version and index of a page lie side by side: one load. */
static inline __attribute__((always_inline)) void
pmc_page_head(const struct perf_event_mmap_page *page, uint32_t *version, uint32_t *index)
{
	__asm__ volatile("ldp %w0, %w1, [%2, #8]"
			 : "=r"(*version), "=r"(*index)
			 : "r"(page)
			 : "memory");
}

/* The low `width` bits, sign-extended. Shifts take the low 6 bits of their count, which spares the
 * mask that C asks for. Source: Arm ARM, "LSLV", "ASRV". */
static inline __attribute__((always_inline)) int64_t pmc_sign_extend(uint64_t pmc, unsigned width)
{
	int64_t value;

	__asm__("lsl %0, %1, %2\n\tasr %0, %0, %2"
		: "=&r"(value)
		: "r"(pmc), "r"(0 - (uint64_t)width));
	return value;
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
