/* SPDX-License-Identifier: MIT */
/* What git knows about the commits of a history, and the results in the notes of tare gate. */
#ifndef HISTORY_HISTORY_GIT_H
#define HISTORY_HISTORY_GIT_H

#include <limits.h>
#include "gate/gate_git.h"
#include "history/history.h"

/* The path of the usual store: in the git directory, which all worktrees share. */
int history_git_path(char out[PATH_MAX], struct revision_signals *s, struct tare_error *err);
/*
 * The commit `rev` (NULL: HEAD), with strings of the arena. Outside of a repository, `rev` is any
 * name, and the time is now; it is required there.
 */
int history_git_commit(struct history_commit *out, void **strings, const char *rev,
		       struct revision_signals *s, struct tare_error *err);
/* All commits that can be reached from a branch, a tag or HEAD. Free it in any case. */
struct history_reachable {
	char **name; /* sorted */
	size_t n;
	char *lines;
};

int history_git_reachable(struct history_reachable *out, struct revision_signals *s,
			  struct tare_error *err);
/* Also true for names that are not hashes. */
bool history_is_reachable(const struct history_reachable *r, const char *commit);
void history_reachable_free(struct history_reachable *r);

/* Adds the results in the notes of HEAD and its first-parent ancestors. */
int history_git_notes(struct history_batch *to, struct revision_signals *s, struct tare_error *err);

#endif
