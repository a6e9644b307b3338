/* SPDX-License-Identifier: MIT */
/*
 * The whole reading of a counter from the kernel's page, times included; tare/page.h draws the page
 * and has the bare count. Takes the page (or a literal one, in tests) and how to read a register
 * and the clock, gives the reading or declines, and then the caller asks read(2).
 */
#ifndef SOURCE_PAGE_H
#define SOURCE_PAGE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include "pmc.h"
#include "tare/page.h"
#include "tare/reading.h"

#define PAGE_INLINE static inline __attribute__((always_inline))

/* How to read the register that an index names, and the clock: this CPU's, or a test's. */
struct page_cpu {
	uint64_t (*counter)(uint32_t index);
	uint64_t (*clock)(void);
};

static const struct page_cpu page_this_cpu = { tare_pmc_read_index, tare_pmc_clock };

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

		tare_pmc_page_head(page, &version, &index);
		tare_page_barrier();
		if (!tare_pmc_index_known(index) || !page->cap_user_time || page->time_shift >= 64)
			return false;

		uint64_t elapsed = page_elapsed_ns(page, cpu->clock());
		uint64_t enabled = page->time_enabled + elapsed,
			 running = page->time_running + elapsed;
		uint64_t pmc = cpu->counter(index);
		uint64_t sum = tare_page_sum(page, pmc);

		tare_page_barrier();
		if (tare_page_version(page) != version)
			continue;
		*out = (struct tare_reading){ sum, enabled, running,
					      running < enabled ? TARE_SCALED : TARE_COUNTED };
		return true;
	}
	return false;
}

#endif
