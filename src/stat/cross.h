/* SPDX-License-Identifier: MIT */
/*
 * Compare two engines that count the same events of the same command in interleaved runs. Takes the
 * table of all runs, with two encodings per event: by `msr` and by `perf`.
 */
#ifndef STAT_CROSS_H
#define STAT_CROSS_H

#include "statistics/student.h"
#include "count/summary.h"

enum cross_side { CROSS_MSR, CROSS_PERF, CROSS_SIDES };

enum cross_verdict {
	CROSS_EQUAL,    /* to the last digit, in every run of both */
	CROSS_AGREE,    /* the difference is within the variation between runs */
	CROSS_DIFFER,   /* by more than the variation between runs */
	CROSS_UNTESTED, /* one run of each does not show the variation between runs */
	CROSS_UNKNOWN,  /* one of them has no number; see `why` */
	CROSS_VERDICTS,
};

extern const char *const cross_names[CROSS_VERDICTS]; /* "equal", ... */

struct cross_row {
	const char *name; /* from the encoding, valid as long as the table */
	size_t n[CROSS_SIDES];
	double mean[CROSS_SIDES];
	struct student_groups test; /* change: perf's value minus the registers' */
	double q;                   /* p adjusted for all events */
	enum cross_verdict verdict;
	char why[400];
};

/*
 * Appends perf encodings for the events counted by registers, after all others, each in its own
 * group.
 */
int cross_add(struct encoding_list *list, struct tare_error *err);
/*
 * One row per event with two encodings. The caller frees it. NULL: out of memory, or no such event.
 */
struct cross_row *cross_judge(const struct stat_table *t, size_t *n, struct tare_error *err);

#endif
