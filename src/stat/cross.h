/* SPDX-License-Identifier: MIT */
/*
 * Two engines count the same events of the same command, in runs that take turns: do they say the same? Takes the table of all
 * runs, in whose encodings each event stands twice, by `msr` and by `perf`.
 */
#ifndef STAT_CROSS_H
#define STAT_CROSS_H

#include "statistics/student.h"
#include "count/summary.h"

enum cross_side { CROSS_MSR, CROSS_PERF, CROSS_SIDES };

enum cross_verdict {
	CROSS_EQUAL,	/* to the last digit, in every run of both */
	CROSS_AGREE,	/* the runs of one differ as much */
	CROSS_DIFFER,	/* by more than the runs do */
	CROSS_UNTESTED, /* one run of each does not say how much runs differ */
	CROSS_UNKNOWN,	/* one of them has no number; `why` */
	CROSS_VERDICTS,
};

extern const char *const cross_names[CROSS_VERDICTS]; /* "equal", ... */

struct cross_row {
	const char *name; /* of the encoding, valid as long as the table */
	size_t n[CROSS_SIDES];
	double mean[CROSS_SIDES];
	struct student_groups test; /* change: perf's less the registers' */
	double q;		    /* p among all events */
	enum cross_verdict verdict;
	char why[400];
};

/* Which encodings are counted a second time: those by registers. Appends perf's, each behind all others, in groups of their own. */
int cross_add(struct encoding_list *list, struct tare_error *err);
/* One row per event that is there twice; freed by the caller. NULL: no memory, or no such event. */
struct cross_row *cross_judge(const struct stat_table *t, size_t *n, struct tare_error *err);

#endif
