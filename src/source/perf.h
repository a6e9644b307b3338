/* SPDX-License-Identifier: MIT */
/*
 * The perf source for callers that read its counters from user space; all others use source_perf.
 */
#ifndef SOURCE_PERF_H
#define SOURCE_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include "source/source.h"

/* As source_perf.open; with `wide`, request 64-bit registers where they may be narrower. */
int perf_open_wide(struct counters **out, const struct encoding *const *enc, size_t n,
		   const struct target *on, bool wide, size_t *failed, struct tare_error *err);

size_t perf_size(const struct counters *c);
int perf_fd(const struct counters *c, size_t i);
const char *perf_leader(const struct counters *c);

/* The page of event i; NULL if it has none. */
const struct perf_event_mmap_page *perf_page(const struct counters *c, size_t i);

/* The count of event i from its page; false if page_count() declines, or there is no page. */
bool perf_count(const struct counters *c, size_t i, uint64_t *count);

/* Event i alone, by read(2). */
int perf_read_one(struct counters *c, size_t i, struct tare_reading *out, struct tare_error *err);

/*
 * 0 if the calling thread can read this group without a system call now; otherwise why not: -EAGAIN
 * if it can later (the group is stopped, or off the PMU), -EOPNOTSUPP if never.
 */
int perf_user_reads(const struct counters *c, struct tare_error *err);

#endif
