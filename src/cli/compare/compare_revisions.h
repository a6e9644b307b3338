/* SPDX-License-Identifier: MIT */
/* tare compare --rev: both revisions, checked out and built, while a child compares them. */
#ifndef CLI_COMPARE_COMPARE_REVISIONS_H
#define CLI_COMPARE_COMPARE_REVISIONS_H

#include "base/temp_folder.h"
#include "compare/revision.h"
#include "output/progress.h"

struct compare_revisions {
	struct revision side[2];
	struct revision_signals signals;
	struct temp_folder folder; /* of the worktrees */
	char dirty[160];           /* a note, if the checkout has changes that are not compared */
};

/*
 * Check out and build (build NULL: nothing). The output of a build that fails goes to standard
 * error. Call compare_revisions_close() in any case.
 */
int compare_revisions_open(struct compare_revisions *r, const char *range, const char *build,
			   struct progress *progress, struct tare_error *err);
/*
 * Fork. Returns -1 in the child, which then compares. The parent waits, and gets the child's exit
 * status. So it can remove the worktrees however the child ends.
 */
int compare_revisions_fork(struct compare_revisions *r);
void compare_revisions_close(struct compare_revisions *r);

#endif
