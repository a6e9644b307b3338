/* SPDX-License-Identifier: MIT */
/*
 * Counters and the clock as x86-64 user space reads them. Installed for the inline reads of
 * tare/pinned.h; tare/arm64/pmc.h has the same functions.
 */
#ifndef TARE_PMC_H
#define TARE_PMC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A counter narrower than this is not read in pinned mode: 2^40 events are minutes, 2^48 a day. */
#define TARE_PMC_MIN_WIDTH 40

/* A cached counter: the operand of `rdpmc`. */
typedef uint32_t tare_pmc_handle;

/**
 * Wait until all earlier instructions are done, and let no later one begin before.
 * Source: Intel SDM vol. 2, "LFENCE" and "SERIALIZE"; AMD APM vol. 2, "Serializing Instructions"
 * (Linux makes LFENCE serialise dispatch on every AMD processor). Never CPUID: it exits to the
 * hypervisor, which costs microseconds. SERIALIZE is taken when the compiler may use it
 * (-mserialize).
 */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_pmc_fence(void)
{
#ifdef __SERIALIZE__
	__asm__ volatile("serialize" : : : "memory");
#else
	__asm__ volatile("lfence" : : : "memory");
#endif
}

/**
 * The raw bits of counter `counter` (index - 1 of its page). Faults if not allowed. Source: Intel
 * SDM vol. 2, "RDPMC".
 */
static __inline__ __attribute__((always_inline, no_instrument_function)) uint64_t tare_pmc_read(
	tare_pmc_handle counter)
{
	uint64_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter) : "memory");
	return high << 32 | low;
}

/** The clock for the page's cap_user_time: the time stamp counter. */
static __inline__ __attribute__((always_inline, no_instrument_function)) uint64_t tare_pmc_clock(
	void)
{
	uint64_t clock;

	/*
	 * One asm statement, because compilers would put the sum into another register and move it.
	 */
	__asm__ volatile(
		"{rdtsc\n\tshlq $32, %%rdx\n\torq %%rdx, %0|rdtsc\n\tshl rdx, 32\n\tor %0, rdx}"
		: "=a"(clock)
		:
		: "rdx", "cc", "memory");
	return clock;
}

/** The address of the kernel's pages, from the state, which is in the page before them. */
static __inline__ __attribute__((always_inline, no_instrument_function)) const void *tare_pmc_pages(
	const void *state)
{
	return (const char *)state + 4096;
}

/**
 * The sum of the versions of the n pages, 4096 bytes each. It is unchanged exactly if the kernel
 * has not touched any counter. Every page must be checked, because x86 may move a member of a group
 * to another counter without the leader (kernel, arch/x86/events/core.c, x86_pmu_enable). Call it
 * after a fence.
 */
static __inline__ __attribute__((always_inline, no_instrument_function)) uint32_t tare_pmc_version(
	const void *pages, uint32_t n)
{
	uint32_t sum = 0;

	/* Not a loop, because compilers differ in which loops they unroll. */
#define TARE_PMC_PAGE(i)                                                                           \
	if (n > (i))                                                                               \
	sum += *(const uint32_t *)((const char *)pages + 4096 * (i) + 8)
	TARE_PMC_PAGE(0);
	TARE_PMC_PAGE(1);
	TARE_PMC_PAGE(2);
	TARE_PMC_PAGE(3);
	TARE_PMC_PAGE(4);
	TARE_PMC_PAGE(5);
	TARE_PMC_PAGE(6);
	TARE_PMC_PAGE(7);
#undef TARE_PMC_PAGE
	return sum;
}

/* 0 (no counter) wraps to the highest number, so one comparison rejects it. */
static __inline__ int tare_pmc_index_known(uint32_t index)
{
	return index - 1 != UINT32_MAX;
}

/* Serialised before, so that all earlier instructions are counted. */
static __inline__ __attribute__((always_inline, no_instrument_function)) uint64_t
tare_pmc_read_index(uint32_t index)
{
	tare_pmc_fence();
	return tare_pmc_read(index - 1);
}

/* Version and index of a page. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_pmc_page_head(
	const void *page, uint32_t *version, uint32_t *index)
{
	*version = *(const volatile uint32_t *)((const char *)page + 8);
	*index = *(const volatile uint32_t *)((const char *)page + 12);
}

/*
 * The low `width` bits, sign-extended. Shifts use the low 6 bits of their count, which saves the
 * mask required by C. Source: Intel SDM vol. 2, "SAL/SAR/SHL/SHR".
 */
static __inline__ __attribute__((always_inline, no_instrument_function)) int64_t
tare_pmc_sign_extend(uint64_t pmc, unsigned width)
{
	__asm__("shl %%cl, %0\n\tsar %%cl, %0" : "+r"(pmc) : "c"(0 - width) : "cc");
	return (int64_t)pmc;
}

#ifdef __cplusplus
}
#endif
#endif
