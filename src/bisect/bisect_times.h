/* SPDX-License-Identifier: MIT */
/*
 * The search with times, which have noise. Measures pairs of runs of a commit and of the good one,
 * and computes the probability of each commit from all pairs, until one has the requested
 * confidence.
 */
#ifndef BISECT_BISECT_TIMES_H
#define BISECT_BISECT_TIMES_H

#include "bisect/bisect_run.h"

/* As bisect_run(). */
int bisect_times(struct bisect_result *out, struct bisect_job *job, struct tare_error *err);

#endif
