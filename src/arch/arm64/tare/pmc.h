/* SPDX-License-Identifier: MIT */
/*
 * Counters and the clock as arm64 user space reads them. Installed for the inline reads of
 * tare/pinned.h; src/arch/x86/tare/pmc.h has the same functions.
 */
#ifndef TARE_PMC_H
#define TARE_PMC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A counter narrower than this is not read in pinned mode: a 32-bit one is set back every 2^31
 * events (kernel, drivers/perf/arm_pmu.c, armpmu_event_set_period), and only the page protocol
 * follows that. 64-bit counters are never set back.
 */
#define TARE_PMC_MIN_WIDTH 64

/* What a cached counter is read by: two instructions, `mrs x0, <its register>; ret`. The number is
 * part of the register's name, and PMSELR_EL0, which could choose one, is not saved over a context
 * switch. */
typedef const void *tare_pmc_handle;

/** Wait until all earlier instructions are done, and let no later one begin before.
 *  Source: Arm ARM, "Instruction Synchronization Barrier"; "Synchronization and the PMU". */
static inline __attribute__((always_inline)) void tare_pmc_fence(void)
{
	__asm__ volatile("isb" : : : "memory");
}

/** The raw bits of a counter. SIGILL where it is not allowed. */
static inline __attribute__((always_inline)) uint64_t tare_pmc_read(tare_pmc_handle counter)
{
	register uint64_t value __asm__("x0");

	__asm__ volatile("blr %1" : "=r"(value) : "r"(counter) : "x30", "memory");
	return value;
}

/** The clock that the page's cap_user_time speaks of: the generic timer. */
static inline __attribute__((always_inline)) uint64_t tare_pmc_clock(void)
{
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
	return ticks;
}

/** Where the kernel's pages are, given the state that tells it: its first word. */
static inline __attribute__((always_inline)) const void *tare_pmc_pages(const void *state)
{
	return *(const void *const *)state;
}

/**
 * The version of the first page: it stays the same exactly as long as the kernel has touched no
 * counter of the group. arm64 takes a group off and on as a whole, and sets a single counter back
 * only when it overflows, which one of 64 bits does not. Call it after a fence.
 */
static inline __attribute__((always_inline)) uint32_t tare_pmc_version(const void *pages,
								       uint32_t n)
{
	(void)n;
	return *(const uint32_t *)((const char *)pages + 8);
}

#ifdef __cplusplus
}
#endif
#endif
