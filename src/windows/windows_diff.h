/* SPDX-License-Identifier: MIT */
/*
 * Compare two runs by the count of the event that defines the windows: the place where they
 * diverge, and the stretches that contribute to the difference. Uses one thread of each: the one
 * with most windows, or the selected one.
 */
#ifndef WINDOWS_WINDOWS_DIFF_H
#define WINDOWS_WINDOWS_DIFF_H

#include "windows/windows.h"

enum { DIFF_EVENTS_MOST = 64 };

/* Windows [first, first + n) of A, and the counts of A and B in them, at the same places. */
struct diff_stretch {
	size_t first, n;
	uint64_t begin, end; /* of the first event */
	double a[DIFF_EVENTS_MOST], b[DIFF_EVENTS_MOST];
};

/*
 * No window of B ends where A's does, so B's count up to there is only known to be between two
 * counts.
 */
enum diff_bound { DIFF_IS, DIFF_AT_LEAST, DIFF_AT_MOST };

struct windows_diff {
	const struct windows_thread *a, *b;
	size_t n_events;
	const char *name[DIFF_EVENTS_MOST], *unit[DIFF_EVENTS_MOST]; /* A's; "": a count */
	size_t aligned; /* windows of A, from the first on, that B also has; without the rest */
	bool rest_too;  /* and the rest after them */
	/*
	 * number of window ends at which the two were compared; exact ones only where a window of B
	 * also ends
	 */
	size_t places;
	uint64_t length_a, length_b; /* of the first event, in all */
	double total_a[DIFF_EVENTS_MOST], total_b[DIFF_EVENTS_MOST]; /* in the aligned part */
	bool parted;
	size_t part_window;  /* from 0 */
	size_t part_windows; /* number of windows from there to part_end; noisy data: 0 */
	uint64_t part_at;    /* count of the first event up to which exact runs are equal */
	uint64_t part_end;   /* and at which they differ; noisy data: 0 */
	size_t part_event;
	double part_a, part_b; /* between these two; in noisy data, the mean of the NEXT windows */
	enum diff_bound part_bound; /* bound of part_b */
	struct diff_stretch stretch[SEGMENTS_MOST];
	size_t stretches;
};

/*
 * `exact`: any difference counts, and only places where windows of both end are compared. Otherwise
 * a difference must exceed the noise, and B's counts are interpolated to A's windows. -EINVAL if
 * the events differ, or the thread does not exist. thread: number, or UINT64_MAX.
 */
int windows_diff(const struct windows_table *a, const struct windows_table *b, bool exact,
		 uint64_t thread_a, uint64_t thread_b, struct windows_diff *out,
		 struct tare_error *err);

#endif
