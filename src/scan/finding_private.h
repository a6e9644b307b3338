/* SPDX-License-Identifier: MIT */
/* Shared by the files of the scan's analysis: events as numbers, and sums of classes. */
#ifndef SCAN_FINDING_PRIVATE_H
#define SCAN_FINDING_PRIVATE_H

#include "scan/finding.h"

enum { TERMS = 3 }; /* classes in one sum, at most */

/* An event as numbers: the typical count of each row, and what a turn of each kind adds. */
struct shape {
	const struct scan_event *event;
	int64_t typical[SCAN_ROWS_MOST];
	double slope[WORK_KINDS];
	bool repeats;
};

struct table {
	const struct scan *scan;
	double class[WORK_KINDS][WORK_CLASSES]; /* of a turn */
	bool sure[WORK_KINDS][WORK_CLASSES];
	uint32_t kinds;             /* bit mask of the kinds that were measured */
	uint32_t has[WORK_CLASSES]; /* kinds of work that contain this class */
};

/* How strictly a sum must match the known counts of the classes. */
enum strictness {
	AS_COUNTED,  /* every kind of work as the exact engine counts it */
	AS_SURE,     /* except for those that depend on the processor */
	BUT_FOR_FEW, /* and except for a few others */
	STRICTNESSES,
};

struct model {
	enum strictness how;
	size_t n;
	unsigned class[TERMS];
	double factor[TERMS];
	int64_t fixed;
	uint32_t wrong, differs; /* kinds with certain class counts, and other kinds */
	size_t samples, right;
	double over, interrupts;
};

/* Finds the smallest sum of classes that matches, using the strictest of these rules; false:
 * none does. `also`: how many others match as well. */
bool scan_find_model(const struct table *t, const struct shape *y, struct model *best,
		     unsigned *also);

#endif
