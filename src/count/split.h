/* SPDX-License-Identifier: MIT */
/* A list of events too long for the counters there are, split into batches that each fit as a
 * whole. */
#ifndef COUNT_SPLIT_H
#define COUNT_SPLIT_H

#include <stdbool.h>
#include "source/source.h"

struct split {
	unsigned batches;
	bool *in; /* in[batch * n + event] */
	size_t n;
};

/*
 * Found by trying, with the very counters: groups are opened together on this thread and run for a
 * moment; a batch holds as many as were on the PMU all the time. What cannot be opened at all goes
 * with the first batch, to be reported there. Costs about a millisecond per group of a PMU.
 */
int split_events(struct split *out, const struct encoding_list *events,
		 const struct source *source, struct tare_error *err);
void split_free(struct split *s);

#endif
