/* SPDX-License-Identifier: MIT */
/*
 * Counters and the clock as arm64 user space reads them. Installed for the inline reads of
 * tare/pinned.h; tare/x86/pmc.h has the same functions.
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

/*
 * The code that reads a cached counter: two instructions, `mrs x0, <its register>; ret`. The
 * counter's number is part of the register's name. PMSELR_EL0 could select one, but it is not saved
 * over a context switch.
 */
typedef const void *tare_pmc_handle;

/** Wait until all earlier instructions are done, and let no later one begin before.
 *  Source: Arm ARM, "Instruction Synchronization Barrier"; "Synchronization and the PMU". */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_pmc_fence(void)
{
	__asm__ volatile("isb" : : : "memory");
}

/** The raw bits of a counter. SIGILL if not allowed. */
static __inline__ __attribute__((always_inline, no_instrument_function)) uint64_t tare_pmc_read(
	tare_pmc_handle counter)
{
	register uint64_t value __asm__("x0");

	__asm__ volatile("blr %1" : "=r"(value) : "r"(counter) : "x30", "memory");
	return value;
}

/** The clock for the page's cap_user_time: the generic timer. */
static __inline__ __attribute__((always_inline, no_instrument_function)) uint64_t tare_pmc_clock(
	void)
{
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
	return ticks;
}

/** The address of the kernel's pages, from the first word of the state. */
static __inline__ __attribute__((always_inline, no_instrument_function)) const void *tare_pmc_pages(
	const void *state)
{
	return *(const void *const *)state;
}

/**
 * The version of the first page. It is unchanged exactly if the kernel has not touched any counter
 * of the group. arm64 takes a group off and on as a whole, and sets a single counter back only when
 * it overflows, which a 64-bit counter does not. Call it after a fence.
 */
static __inline__ __attribute__((always_inline, no_instrument_function)) uint32_t tare_pmc_version(
	const void *pages, uint32_t n)
{
	(void)n;
	return *(const uint32_t *)((const char *)pages + 8);
}

enum { TARE_PMC_COUNTERS = 32 };

/* Index n + 1 is event counter n, 32 the cycle counter; 0 (no counter) wraps and is rejected. */
static __inline__ int tare_pmc_index_known(uint32_t index)
{
	return index - 1 < TARE_PMC_COUNTERS;
}

#ifdef __ARM_FEATURE_BTI_DEFAULT
#define TARE_PMC_LAND "bti j\n\t"
#define TARE_PMC_STEP "4"
#define TARE_PMC_PAD  "nop\n\t"
#else
#define TARE_PMC_LAND ""
#define TARE_PMC_STEP "3"
#define TARE_PMC_PAD  ""
#endif

/* A jump into a table of reads: inline, so that the link register need not be saved. */
static __inline__ __attribute__((always_inline, no_instrument_function)) uint64_t
tare_pmc_read_index(uint32_t index)
{
	uint64_t value, at = index - 1;

	__asm__ volatile(
		"isb\n\t"
		"adr %0, 1f\n\t"
		"add %0, %0, %1, lsl #" TARE_PMC_STEP "\n\t"
		"br %0\n\t"
		"1:\n\t"
		".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,"
		"27,28,29,30\n\t" TARE_PMC_LAND "mrs %0, pmevcntr\\n\\()_el0\n\t"
		"b 2f\n\t" TARE_PMC_PAD ".endr\n\t" TARE_PMC_LAND "mrs %0, pmccntr_el0\n\t"
		"2:"
		: "=&r"(value)
		: "r"(at)
		: "memory");
	return value;
}

/* Version and index of a page are adjacent: one load. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_pmc_page_head(
	const void *page, uint32_t *version, uint32_t *index)
{
	__asm__ volatile("ldp %w0, %w1, [%2, #8]"
			 : "=r"(*version), "=r"(*index)
			 : "r"(page)
			 : "memory");
}

/*
 * The low `width` bits, sign-extended. Shifts use the low 6 bits of their count, which saves the
 * mask required by C. Source: Arm ARM, "LSLV", "ASRV".
 */
static __inline__ __attribute__((always_inline, no_instrument_function)) int64_t
tare_pmc_sign_extend(uint64_t pmc, unsigned width)
{
	int64_t value;

	__asm__("lsl %0, %1, %2\n\tasr %0, %0, %2"
		: "=&r"(value)
		: "r"(pmc), "r"(0 - (uint64_t)width));
	return value;
}

#ifdef __cplusplus
}
#endif
#endif
