/* SPDX-License-Identifier: MIT */
/* The effect of each item of a deterministic launch on one program. */
#ifndef VERIFY_VERIFY_LAUNCH_VIEW_H
#define VERIFY_VERIFY_LAUNCH_VIEW_H

#include "launch/determinism.h"
#include "output/style.h"
#include "pmu/source.h"

/* Some runs under one condition. */
struct launch_runs {
	unsigned runs;
	uint64_t min, median, max; /* instructions */
	unsigned different;        /* counts of the runs */
	bool output_differs; /* from that of the first run of report.all, or among these runs */
	bool end_differs;    /* likewise its exit status */
};

struct launch_report {
	char *const *argv;
	const struct source *engine;
	unsigned runs; /* of each condition */
	const struct determinism *fixed;
	/*
	 * the very first run differed from all others with everything fixed, and those were equal:
	 * `all` leaves it out
	 */
	bool first_apart;
	/*
	 * of three or more: its count is over four times as far from the others as those are from
	 * each other
	 */
	bool first_most;
	struct launch_runs first;
	struct launch_runs all;              /* everything fixed */
	struct launch_runs off[FIXED_ITEMS]; /* without this item, where it was available */
	int exit_status;                     /* of the command, in its first run */
};

/* With everything fixed the count was the same in each run. */
bool launch_repeats(const struct launch_report *r);
void verify_launch_text(struct text *out, const struct launch_report *r, const struct style *s);
void verify_launch_json(struct text *out, const struct launch_report *r);

#endif
