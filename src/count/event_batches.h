/* SPDX-License-Identifier: MIT */
/* Split a list of events that is too long for the available counters into batches that fit. */
#ifndef COUNT_EVENT_BATCHES_H
#define COUNT_EVENT_BATCHES_H

#include <stdbool.h>
#include "source/source.h"

struct event_batches {
	unsigned batches;
	bool *in; /* in[batch * n + event] */
	size_t n;
};

/*
 * Determined by experiment on the actual counters: groups are opened together on this thread and
 * run briefly; a batch contains as many as were on the PMU all the time. Events that cannot be
 * opened are in the first batch, which reports them. Costs about a millisecond per group of a PMU.
 */
int event_batches_measure(struct event_batches *out, const struct encoding_list *events,
			  const struct source *source, struct tare_error *err);
void event_batches_free(struct event_batches *s);

#endif
