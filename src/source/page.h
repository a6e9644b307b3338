/* SPDX-License-Identifier: MIT */
/*
 * The complete reading of a counter from the kernel's page, with times; tare/page.h describes the
 * page and has the count alone. Takes the page (or a literal one, in tests) and functions to read a
 * register and the clock. Gives the reading or declines; then the caller uses read(2).
 */
#ifndef SOURCE_PAGE_H
#define SOURCE_PAGE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include "pmc.h"
#include "tare/page.h"
#include "tare/reading.h"

#define PAGE_INLINE static inline __attribute__((always_inline))

/* How to read a counter register by its index, and the clock: this CPU's, or a test's. */
struct page_cpu {
	uint64_t (*counter)(uint32_t index);
	uint64_t (*clock)(void);
};

static const struct page_cpu page_this_cpu = { tare_pmc_read_index, tare_pmc_clock };

/* ns since the page's two times were updated. */
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
 * The complete reading, with times. Declines if the counter is off the PMU, the times are not
 * available without the kernel, or the page changed PAGE_TRIES times in a row.
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
