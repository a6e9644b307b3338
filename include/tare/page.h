/* SPDX-License-Identifier: MIT */
/*
 * Read a counter from the kernel's mmap page without a system call, with the full protocol, inline.
 *
 *	const struct perf_event_mmap_page *page = tare_group_page(g, 0);
 *	uint64_t count;
 *
 *	if (!page || !tare_page_count(page, &count))
 *		ret = tare_group_count(g, 0, &count, &err);
 *
 * The fields of the page that are used:
 *
 *	offset size
 *	     8    4  lock          changes when the kernel writes the page
 *	    12    4  index         of the counter, from 1 on; 0: not on a counter now
 *	    16    8  offset        to add to the register
 *	    24    8  time_enabled  ns, when the page was written
 *	    32    8  time_running  ns, when the page was written
 *	    40    8  capabilities  cap_user_rdpmc is 1 even if reading is disabled: use index
 *	    48    2  pmc_width     bits of the register
 *	    50    2  time_shift    from ticks of the clock to ns, with
 *	    52    4  time_mult
 *	    56    8  time_offset
 *	    80    8  time_cycles   for clocks of fewer than 64 bits, with
 *	    88    8  time_mask
 *
 * The kernel writes the page only on the CPU that the thread runs on, or while the thread does not
 * run. So a compiler barrier is sufficient. Source: linux/perf_event.h, struct
 * perf_event_mmap_page, "Bits needed to read the hw events in user-space".
 */
#ifndef TARE_PAGE_H
#define TARE_PAGE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tare/error.h"
#include "tare/group.h"
#include "tare/pmc.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TARE_PAGE_INLINE static __inline__ __attribute__((always_inline, no_instrument_function))

/**
 * The page of event i of a group.
 *
 * Returns NULL if the group was not opened with TARE_USER_READS, or if the group or the calling
 * thread does not allow it (tare_group_user_reads() says why). The page lives as long as the group.
 * Only the thread that opened the group may read it, and not in a child after fork. Costs no system
 * call.
 */
TARE_API const struct perf_event_mmap_page *tare_group_page(const struct tare_group *g, size_t i);

TARE_PAGE_INLINE void tare_page_barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

TARE_PAGE_INLINE uint32_t tare_page_version(const struct perf_event_mmap_page *page)
{
	return *(const volatile uint32_t *)&page->lock;
}

/*
 * The hardware counter is pmc_width bits and wraps; the kernel's offset expects it sign-extended.
 */
TARE_PAGE_INLINE uint64_t tare_page_sum(const struct perf_event_mmap_page *page, uint64_t pmc)
{
	return (uint64_t)page->offset + (uint64_t)tare_pmc_sign_extend(pmc, page->pmc_width);
}

/* Like tare_page_count(), with registers read by `counter`. */
TARE_PAGE_INLINE bool tare_page_count_by(const struct perf_event_mmap_page *page,
					 uint64_t (*counter)(uint32_t index), uint64_t *count)
{
	uint32_t version, index;
	uint64_t sum;

	tare_pmc_page_head(page, &version, &index);
	tare_page_barrier();
	if (__builtin_expect(
		    !tare_pmc_index_known(index) || page->time_enabled != page->time_running, 0))
		return false;

	sum = tare_page_sum(page, counter(index));
	tare_page_barrier();
	if (__builtin_expect(tare_page_version(page) != version, 0))
		return false;
	*count = sum;
	return true;
}

/**
 * Read one counter: the events since its group was opened.
 *
 * @page   of a counter of the calling thread, by tare_group_page().
 * @count  written only on success.
 *
 * Returns false if the counter is not on the PMU now, was off it at any time since it was started
 * (then the count is incomplete), or if the kernel wrote the page meanwhile. In these cases use
 * tare_group_count() or tare_group_read(). Costs at most 24 instructions
 * (bench/count_instructions), serialised before (x86 `lfence` or `serialize`, arm64 `isb`).
 */
TARE_PAGE_INLINE bool tare_page_count(const struct perf_event_mmap_page *page, uint64_t *count)
{
	return tare_page_count_by(page, tare_pmc_read_index, count);
}

#ifdef __cplusplus
}
#endif
#endif
