/* SPDX-License-Identifier: MIT */
/*
 * The kernel's page about a counter: how to read it without a system call. Takes the mapped page
 *(or a literal one, in tests) and how to read a register, gives the count or declines, and then the
 *caller asks read(2).
 *
 *	offset size
 *	     8    4  lock          changes when the kernel writes the page
 *	    12    4  index         of the counter, from 1 on; 0: not on a counter now
 *	    16    8  offset        what to add to the register
 *	    24    8  time_enabled  ns, when the page was written
 *	    32    8  time_running  ns, when the page was written
 *	    40    8  capabilities  cap_user_rdpmc says 1 also where reading is switched off: index
 *decides 48    2  pmc_width     bits of the register 50    2  time_shift    from ticks of the clock
 *to ns, with 52    4  time_mult 56    8  time_offset 80    8  time_cycles   for clocks of fewer
 *than 64 bits, with 88    8  time_mask
 *
 * The kernel writes it only from the CPU that the thread runs on (or while it does not run), so a
 * compiler barrier is all the order that is needed. Source: linux/perf_event.h, struct
 * perf_event_mmap_page, "Bits needed to read the hw events in user-space".
 */
#ifndef SOURCE_PAGE_H
#define SOURCE_PAGE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include "pmc.h"
#include "tare/reading.h"

#define PAGE_INLINE static inline __attribute__((always_inline))

/* How to read the register that an index names, and the clock: this CPU's, or a test's. */
struct page_cpu {
	uint64_t (*counter)(uint32_t index);
	uint64_t (*clock)(void);
};

static const struct page_cpu page_this_cpu = { pmc_read_index, tare_pmc_clock };

PAGE_INLINE void page_barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

PAGE_INLINE uint32_t page_version(const struct perf_event_mmap_page *page)
{
	return *(const volatile uint32_t *)&page->lock;
}

/*
 * The hardware counter is `width` bits and wraps; the kernel's offset expects it sign-extended.
 * Source: linux/perf_event.h, pmc_width. width: 1..64, as the kernel gives it.
 */
PAGE_INLINE uint64_t page_sum(const struct perf_event_mmap_page *page, uint64_t pmc)
{
	return (uint64_t)page->offset + (uint64_t)pmc_sign_extend(pmc, page->pmc_width);
}

/*
 * The count, whole and not scaled: at most 24 instructions (bench/count_instructions). Declines
 * when the counter is off the PMU, was off it at any time since it was enabled (then the count is
 * only a share, and page_reading() says which), or the page changed meanwhile.
 */
PAGE_INLINE bool page_count(const struct perf_event_mmap_page *page, const struct page_cpu *cpu,
			    uint64_t *count)
{
	uint32_t version, index;

	pmc_page_head(page, &version, &index);
	page_barrier();
	if (__builtin_expect(!pmc_index_known(index) || page->time_enabled != page->time_running,
			     0))
		return false;

	uint64_t pmc = cpu->counter(index);
	uint64_t sum = page_sum(page, pmc);

	page_barrier();
	if (__builtin_expect(page_version(page) != version, 0))
		return false;
	*count = sum;
	return true;
}

/* ns since the page's two times were taken. */
PAGE_INLINE uint64_t page_elapsed_ns(const struct perf_event_mmap_page *page, uint64_t ticks)
{
	unsigned shift = page->time_shift;
	uint64_t mult = page->time_mult;

	if (page->cap_user_time_short)
		ticks = page->time_cycles + ((ticks - page->time_cycles) & page->time_mask);

	uint64_t whole = ticks >> shift, part = ticks & (((uint64_t)1 << shift) - 1);

	return page->time_offset + whole * mult + (part * mult >> shift);
}

enum { PAGE_TRIES = 16 };

/*
 * The whole reading, times included. Declines when the counter is off the PMU, the times cannot be
 * had without the kernel, or the page changed PAGE_TRIES times over.
 */
static inline bool page_reading(const struct perf_event_mmap_page *page, const struct page_cpu *cpu,
				struct tare_reading *out)
{
	for (int tries = 0; tries < PAGE_TRIES; tries++) {
		uint32_t version, index;

		pmc_page_head(page, &version, &index);
		page_barrier();
		if (!pmc_index_known(index) || !page->cap_user_time || page->time_shift >= 64)
			return false;

		uint64_t elapsed = page_elapsed_ns(page, cpu->clock());
		uint64_t enabled = page->time_enabled + elapsed,
			 running = page->time_running + elapsed;
		uint64_t pmc = cpu->counter(index);
		uint64_t sum = page_sum(page, pmc);

		page_barrier();
		if (page_version(page) != version)
			continue;
		*out = (struct tare_reading){ sum, enabled, running,
					      running < enabled ? TARE_SCALED : TARE_COUNTED };
		return true;
	}
	return false;
}

#endif
