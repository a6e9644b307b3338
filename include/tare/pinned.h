/* SPDX-License-Identifier: MIT */
/*
 * The cheapest correct read: counters of the calling thread that stay on the PMU, read by the
 * register number cached at open. For differences over a few instructions, or millions.
 *
 *	struct tare_pinned *p = tare_pinned_open(events, &err);
 *	uint64_t before[2], after[2];
 *
 *	tare_pinned_read(p, before, 2);
 *	work();
 *	tare_pinned_read(p, after, 2);
 *	printf("%llu\n", (unsigned long long)tare_pinned_difference(p, before[0], after[0]));
 *
 * The kernel may still move a counter, if the thread migrates to a CPU on which its register is in
 * use. So every read compares the version of the kernel's pages with the cached one after reading
 * the registers: an unchanged version proves that the right registers were read. If it changed, an
 * out-of-line function looks up the registers again, or uses read(2).
 */
#ifndef TARE_PINNED_H
#define TARE_PINNED_H

#include <stddef.h>
#include <stdint.h>
#include "tare/error.h"
#include "tare/event.h"
#include "tare/pmc.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TARE_PINNED_MAX = 8 };

/** The pinned counters of a thread. The fields are for the inline functions below. */
struct tare_pinned {
	const void *pages; /* the kernel's pages, one per counter, contiguous */
	tare_pmc_handle counter[TARE_PINNED_MAX];
	uint32_t version; /* of the pages, when `counter` was cached */
	uint32_t n;
	uint64_t mask; /* the bits that all counters have */
};

/**
 * Open all events of the list as one group of the calling thread, and start it.
 *
 * @events  at most TARE_PINNED_MAX events of the CPU's own PMU; not kept.
 * @err     says which event cannot be read this way and why; may be NULL.
 *
 * Returns the counters, which the same thread closes. Returns NULL if reads would not be reliable:
 * err->code EOPNOTSUPP (the event has no register; reading from user space is disabled, and the
 * hint has the command to enable it; the counter has less than 40 bits on x86, or 64 on arm64),
 * EBUSY (the counters are in use), and as tare_group_open(). Costs some system calls and one locked
 * page per event.
 *
 * Source: perf_event_open(2), "pinned"; linux/perf_event.h, struct perf_event_mmap_page.
 */
TARE_API struct tare_pinned *tare_pinned_open(const struct tare_events *events,
					      struct tare_error *err);

/** Close them; NULL does nothing. */
TARE_API void tare_pinned_close(struct tare_pinned *p);

/** Called by tare_pinned_read() if the kernel moved a counter. Do not call it directly. */
TARE_API int tare_pinned_read_slowly(struct tare_pinned *p, uint64_t *out, uint32_t n);

/**
 * Read all counters.
 *
 * @p    open counters of the calling thread.
 * @out  room for n values, in the order of the list. Only their differences have a meaning.
 * @n    the tare_events_count() of the list. Use a constant: otherwise each value costs a
 *       comparison.
 *
 * Returns 0; -EIO if the kernel took the counters away, -ENODATA if they were multiplexed. Call it
 * only from the thread that opened them, and not in a child after fork. Costs at most 11
 * instructions for one counter and 6 more for each further one (bench/count_instructions),
 * serialised before and after (x86 `lfence` or `serialize`, arm64 `isb`). Needs a system call only
 * if the kernel moved a counter.
 */
static __inline__ __attribute__((always_inline, no_instrument_function)) int tare_pinned_read(
	struct tare_pinned *p, uint64_t *out, uint32_t n)
{
	const void *pages = tare_pmc_pages(p);
	tare_pmc_handle first = p->counter[0];

	tare_pmc_fence();
	out[0] = tare_pmc_read(first);
	/* Not a loop, because compilers differ in which loops they unroll. */
#define TARE_PINNED_NEXT(i)                                                                        \
	if (n > (i))                                                                               \
	out[i] = tare_pmc_read(p->counter[i])
	TARE_PINNED_NEXT(1);
	TARE_PINNED_NEXT(2);
	TARE_PINNED_NEXT(3);
	TARE_PINNED_NEXT(4);
	TARE_PINNED_NEXT(5);
	TARE_PINNED_NEXT(6);
	TARE_PINNED_NEXT(7);
#undef TARE_PINNED_NEXT
	tare_pmc_fence();
	if (__builtin_expect(tare_pmc_version(pages, n) != p->version, 0))
		return tare_pinned_read_slowly(p, out, n);
	return 0;
}

/**
 * The number of events between two reads of the same counter. Correct for fewer than 2^40 events
 * (x86: 2^48 on all current processors, which is a day of cycles; arm64: 2^64).
 */
static __inline__ uint64_t tare_pinned_difference(const struct tare_pinned *p, uint64_t before,
						  uint64_t after)
{
	return (after - before) & p->mask;
}

#ifdef __cplusplus
}
#endif
#endif
