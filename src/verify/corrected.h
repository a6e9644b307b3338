/* SPDX-License-Identifier: MIT */
/*
 * Counts with their known overcount taken off, run by run: so many for each page fault and each interrupt, as `tare verify` found them
 * on this machine. Pure.
 */
#ifndef VERIFY_CORRECTED_H
#define VERIFY_CORRECTED_H

#include "count/summary.h"
#include "verify/verify.h"

struct corrected {
	unsigned event;	      /* index in the encodings */
	struct spread counted, corrected;
	int64_t per_fault;
	unsigned per_interrupt;
	uint64_t faults, interrupts; /* medians of the runs */
	char why_not[200];    /* "": it was corrected */
};

struct corrected_from {
	const struct verify_result *of;		/* of the event to be corrected */
	const struct stat_row *faults;		/* of an event that was verified; or NULL */
	const struct stat_row *interrupts;	/* of the event that counts them on this CPU; or NULL */
};

/* Is there something to take off? Then `out` says what, or why not. -ENOMEM. */
bool corrected_needed(const struct verify_result *of);
int corrected_row(struct corrected *out, const struct stat_table *t, const struct stat_row *row, const struct corrected_from *from,
		  struct tare_error *err);

#endif
