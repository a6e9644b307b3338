/* SPDX-License-Identifier: MIT */
/*
 * Two runs side by side, by the count of the event that makes the windows: where do they part, and which stretches
 * make the difference. One thread of each: the one with most windows, or those that were named.
 */
#ifndef ANALYZE_WINDOWS_DIFF_H
#define ANALYZE_WINDOWS_DIFF_H

#include "analyze/windows.h"

enum { DIFF_EVENTS_MOST = 64 };

/* Windows [first, first + n) of A, and what was counted in them by A and, at the same place, by B. */
struct diff_stretch {
	size_t first, n;
	uint64_t begin, end; /* of the first event */
	double a[DIFF_EVENTS_MOST], b[DIFF_EVENTS_MOST];
};

struct windows_diff {
	const struct windows_thread *a, *b;
	size_t n_events;
	const char *name[DIFF_EVENTS_MOST]; /* A's */
	size_t aligned; /* windows that both have */
	uint64_t length_a, length_b; /* of the first event, in all */
	double total_a[DIFF_EVENTS_MOST], total_b[DIFF_EVENTS_MOST]; /* in the aligned part */
	bool parted;
	size_t part_window; /* from 0 */
	uint64_t part_at;   /* of the first event */
	size_t part_event;
	double part_a, part_b; /* there: of that window; in noisy data of the NEXT windows, on average */
	struct diff_stretch stretch[SEGMENTS_MOST];
	size_t stretches;
};

/*
 * `exact`: any difference parts them; else one that stands out of the noise. -EINVAL when the events differ, or
 * there is no such thread. thread: number, or UINT64_MAX.
 */
int windows_diff(const struct windows_table *a, const struct windows_table *b, bool exact, uint64_t thread_a,
		 uint64_t thread_b, struct windows_diff *out, struct tare_error *err);

#endif
