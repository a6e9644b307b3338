/* SPDX-License-Identifier: MIT */
/*
 * Subtracts the known overcount from counts, run by run: a number for each page fault and each
 * interrupt, as found by `tare verify` on this machine. Pure.
 */
#ifndef VERIFY_OVERCOUNT_H
#define VERIFY_OVERCOUNT_H

#include "count/summary.h"
#include "verify/verify.h"

struct overcount {
	unsigned event; /* index in the encodings */
	struct spread counted, corrected;
	int64_t per_fault;
	unsigned per_interrupt;
	uint64_t faults, interrupts; /* medians of the runs */
	char why_not[200];           /* "": it was corrected; else the reason */
};

struct overcount_from {
	const struct verify_result *of;    /* the event to be corrected */
	const struct stat_row *faults;     /* of a verified event; or NULL */
	const struct stat_row *interrupts; /* of the event that counts them on this CPU; or NULL */
};

/*
 * Is there anything to subtract? Then `out` has the amount, or the reason why it cannot be done.
 * -ENOMEM.
 */
bool overcount_needed(const struct verify_result *of);
int overcount_row(struct overcount *out, const struct stat_table *t, const struct stat_row *row,
		  const struct overcount_from *from, struct tare_error *err);

#endif
