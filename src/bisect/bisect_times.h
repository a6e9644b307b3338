/* SPDX-License-Identifier: MIT */
/*
 * The search with times, which have noise: pairs of runs of a commit and of the good one, the
 * probability of each commit from all of them, until one has the confidence that was asked for.
 */
#ifndef BISECT_BISECT_TIMES_H
#define BISECT_BISECT_TIMES_H

#include "bisect/bisect_run.h"

/* As bisect_run(). */
int bisect_times(struct bisect_result *out, struct bisect_job *job, struct tare_error *err);

#endif
