/* SPDX-License-Identifier: MIT */
/* Compares the times of a benchmark in pairs of runs, one of the base and one of the head. */
#ifndef GATE_GATE_TIMES_H
#define GATE_GATE_TIMES_H

#include "compare/revision.h"
#include "gate/gate.h"

/* Where both sides were built; absolute paths. */
struct gate_sides {
	const char *base, *head;
	struct revision_signals *signals;
	/* As in struct compare_plan; called in another process. */
	void (*begin)(void *with, unsigned run, unsigned runs, enum compare_side side);
	void *with;
};

/*
 * Sets the times of a benchmark that was judged, and its verdict; if they could not be measured,
 * it has failed. -EINTR: stopped by a signal.
 */
int gate_times(struct gate_outcome *o, const struct gate_benchmark *b,
	       const struct gate_sides *sides, struct tare_error *err);

#endif
