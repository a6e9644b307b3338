/* SPDX-License-Identifier: MIT */
/*
 * Compare two engines that count the same events of the same command in interleaved runs. Takes the
 * table of all runs, with two encodings per event: by `msr` and by `perf`.
 */
#ifndef STAT_CROSS_CHECK_H
#define STAT_CROSS_CHECK_H

#include "statistics/student_t.h"
#include "count/summary.h"

enum cross_check_side { CROSS_CHECK_MSR, CROSS_CHECK_PERF, CROSS_CHECK_SIDES };

enum cross_check_verdict {
	CROSS_CHECK_EQUAL,    /* to the last digit, in every run of both */
	CROSS_CHECK_AGREE,    /* the difference is within the variation between runs */
	CROSS_CHECK_DIFFER,   /* by more than the variation between runs */
	CROSS_CHECK_UNTESTED, /* one run of each does not show the variation between runs */
	CROSS_CHECK_UNKNOWN,  /* one of them has no number; see `why` */
	CROSS_CHECK_VERDICTS,
};

extern const char *const cross_check_names[CROSS_CHECK_VERDICTS]; /* "equal", ... */

struct cross_check_row {
	const char *name; /* from the encoding, valid as long as the table */
	size_t n[CROSS_CHECK_SIDES];
	double mean[CROSS_CHECK_SIDES];
	struct student_groups test; /* change: perf's value minus the registers' */
	double q;                   /* p adjusted for all events */
	enum cross_check_verdict verdict;
	char why[400];
};

/*
 * Appends perf encodings for the events counted by registers, after all others, each in its own
 * group.
 */
int cross_check_add(struct encoding_list *list, struct tare_error *err);
/*
 * One row per event with two encodings. The caller frees it. NULL: out of memory, or no such event.
 */
struct cross_check_row *cross_check_judge(const struct stat_table *t, size_t *n,
					  struct tare_error *err);

#endif
