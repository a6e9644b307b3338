/* SPDX-License-Identifier: MIT */
/* tare compare --rev: both revisions, checked out and built, while a child compares them. */
#ifndef CLI_COMPARE_COMPARE_REVISIONS_H
#define CLI_COMPARE_COMPARE_REVISIONS_H

#include "base/temp_folder.h"
#include "compare/revision.h"
#include "output/progress.h"

enum { COMPARE_REVISION_NOTES = 3 };

struct compare_revisions {
	struct revision side[2];
	struct revision_signals signals;
	struct temp_folder folder;              /* of the worktrees */
	char note[COMPARE_REVISION_NOTES][256]; /* on changes that are left out */
	size_t notes;
};

/*
 * Check out and build (build NULL: nothing). A range "A" alone is from A to the working tree. The
 * notes are also printed at once, because the comparison takes time. The output of a build that
 * fails goes to standard error. Call compare_revisions_close() in any case.
 */
int compare_revisions_open(struct compare_revisions *r, const char *range, const char *build,
			   struct progress *progress, struct tare_error *err);
/*
 * Fork. Returns -1 in the child, which then compares. The parent waits, and gets the child's exit
 * status. So it can remove the worktrees however the child ends.
 */
int compare_revisions_fork(struct compare_revisions *r);
/* Rewrites the error of a command that does not exist in a worktree. */
void compare_revisions_explain(const struct compare_revisions *r, const char *command,
			       const char *build, struct tare_error *err);
void compare_revisions_close(struct compare_revisions *r);

#endif
