/* SPDX-License-Identifier: MIT */
/*
 * The worktrees of a bisection: commits are checked out and built there. Builds are kept in a cache
 * of a limited size, so that a commit that is measured again is not built again.
 */
#ifndef BISECT_BISECT_TREE_H
#define BISECT_BISECT_TREE_H

#include "bisect/bisect_run.h"

enum { BISECT_TREE, BISECT_BASE };

int bisect_check_out(struct bisect_job *j, int which, const char *commit, struct tare_error *err);
/*
 * Builds the commit that is checked out there. With j->cache_bytes, builds of BISECT_TREE are kept;
 * the least recently used ones are removed. 1: it failed, and `why` has the reason.
 */
int bisect_build(struct bisect_job *j, int which, char why[BISECT_TEXT_BYTES],
		 struct tare_error *err);
/* The error that one end of the range, which is checked out there, cannot be measured: -EINVAL. */
int bisect_not_measured(const struct bisect_job *j, int which, const char *end, const char *why,
			struct tare_error *err);
/* Fills in the commit's parent, date, author and subject. */
int bisect_describe(struct bisect_job *j, struct bisect_try *t, struct tare_error *err);

#endif
