/* SPDX-License-Identifier: MIT */
/*
 * Two runs side by side, by the count of the event that makes the windows: where do they part, and which stretches
 * make the difference. One thread of each: the one with most windows, or those that were named.
 */
#ifndef WINDOWS_WINDOWS_DIFF_H
#define WINDOWS_WINDOWS_DIFF_H

#include "windows/windows.h"

enum { DIFF_EVENTS_MOST = 64 };

/* Windows [first, first + n) of A, and what was counted in them by A and, at the same place, by B. */
struct diff_stretch {
	size_t first, n;
	uint64_t begin, end; /* of the first event */
	double a[DIFF_EVENTS_MOST], b[DIFF_EVENTS_MOST];
};

/* No window of B ends where A's does: what B counted until there lies between two counts. */
enum diff_bound { DIFF_IS, DIFF_AT_LEAST, DIFF_AT_MOST };

struct windows_diff {
	const struct windows_thread *a, *b;
	size_t n_events;
	const char *name[DIFF_EVENTS_MOST], *unit[DIFF_EVENTS_MOST]; /* A's; "": a count */
	size_t aligned; /* windows of A, from the first on, that B has, too */
	size_t places; /* at the ends of how many of them the two were compared: exact ones where one of B ends as well */
	uint64_t length_a, length_b; /* of the first event, in all */
	double total_a[DIFF_EVENTS_MOST], total_b[DIFF_EVENTS_MOST]; /* in the aligned part */
	bool parted;
	size_t part_window; /* from 0 */
	size_t part_windows; /* from there to part_end; noisy data: 0 */
	uint64_t part_at;   /* of the first event: exact ones are the same until there, and */
	uint64_t part_end;  /* differ here; noisy data: 0 */
	size_t part_event;
	double part_a, part_b; /* between these two; in noisy data of the NEXT windows, on average */
	enum diff_bound part_bound; /* of part_b */
	struct diff_stretch stretch[SEGMENTS_MOST];
	size_t stretches;
};

/*
 * `exact`: any difference parts them, and nothing is compared but where windows of both end; else one that stands out
 * of the noise, with B's counts laid into A's windows by straight lines. -EINVAL when the events differ, or
 * there is no such thread. thread: number, or UINT64_MAX.
 */
int windows_diff(const struct windows_table *a, const struct windows_table *b, bool exact, uint64_t thread_a,
		 uint64_t thread_b, struct windows_diff *out, struct tare_error *err);

#endif
