/* SPDX-License-Identifier: MIT */
/* Between the files of the scan's analysis: events as numbers, and sums of classes. */
#ifndef SCAN_FINDING_PRIVATE_H
#define SCAN_FINDING_PRIVATE_H

#include "scan/finding.h"

enum { TERMS = 3 }; /* classes in one sum, at most */

/* An event as numbers: what is typical of each row, and what a turn of each kind adds. */
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
	uint32_t kinds;			       /* that were done, a bit each */
	uint32_t has[WORK_CLASSES];	       /* kinds of which a turn has some */
};

/* How strictly a sum is held to what the classes are known to be. */
enum strictness {
	AS_COUNTED,  /* every kind of work as the exact engine counts it */
	AS_SURE,     /* but for those in which processors differ */
	BUT_FOR_FEW, /* and but for few others */
	STRICTNESSES,
};

struct model {
	enum strictness how;
	size_t n;
	unsigned class[TERMS];
	double factor[TERMS];
	int64_t fixed;
	uint32_t wrong, differs; /* kinds, of those that are sure and of others */
	size_t samples, right;
	double over, interrupts;
};

/* The smallest sum of classes that holds, after the strictest of these; false: none does. `also`: how many others hold as well. */
bool scan_find_model(const struct table *t, const struct shape *y, struct model *best, unsigned *also);

#endif
