/* SPDX-License-Identifier: MIT */
/*
 * Times of one command in two directories, in pairs of runs. They are measured in a separate
 * process, because this changes the directory and the environment.
 */
#ifndef COMPARE_COMPARE_TIMES_H
#define COMPARE_COMPARE_TIMES_H

#include "compare/compare_run.h"
#include "compare/revision.h"

struct compare_times {
	/*
	 * The verdicts and numbers of those that were measured. `of` and `again` have only n, and
	 * no values. The name is constant.
	 */
	struct compare_event event[COMPARE_TIMES];
	uint64_t pair[COMPARE_TIMES][2 * COMPARE_RUNS_MAX][COMPARE_SIDES]; /* of both sets */
	size_t pairs[COMPARE_TIMES];
};

/*
 * Measures them, with an empty standard input and the variables of `environment`
 * ("NAME=value", up to a NULL; or NULL). plan->events is ignored. Returns 0; 1: the commands could
 * not be measured, and err has the reason; -EINTR: stopped by a signal.
 */
int compare_times(struct compare_times *out, const struct compare_plan *plan,
		  char *const *environment, struct revision_signals *s, struct tare_error *err);

#endif
