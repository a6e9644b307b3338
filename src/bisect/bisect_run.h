/* SPDX-License-Identifier: MIT */
/*
 * Searches the commit. git, or with times the probabilities, select the next commit. It is built in
 * a worktree, and the exact engine counts, or pairs of runs are timed. The user's checkout is not
 * touched.
 */
#ifndef BISECT_BISECT_RUN_H
#define BISECT_BISECT_RUN_H

#include "bisect/bisect_state.h"
#include "compare/revision.h"

enum { BISECT_NOTES_MAX = 8 };

struct bisect_result {
	bool found;                           /* else it is one of the suspects */
	char commit[BISECT_COMMIT_BYTES];     /* the largest step; or the earliest bad commit */
	uint64_t before, after;               /* counts of its parent, and its own */
	char (*suspect)[BISECT_COMMIT_BYTES]; /* owned; some could not be measured */
	size_t suspects, room;
	char function[BISECT_TEXT_BYTES]; /* untrusted; with the largest change; "": unknown */
	int64_t function_change;
	/* With times: in percent. */
	double confidence; /* that it is the commit, or one of the suspects */
	double percent, low_percent, high_percent; /* the change, its interval at COMPARE_LEVEL */
	size_t pairs;                              /* from which it is estimated */
	char note[BISECT_NOTES_MAX][BISECT_TEXT_BYTES];
	size_t notes;
};

struct bisect_job {
	struct bisect_state *state; /* its folder exists */
	const char *path;           /* the state is saved there after each try */
	bool no_cause;
	uint64_t cache_bytes; /* of builds that are kept; 0: none */
	struct revision_signals *signals;
	/* done of about `steps`; NULL: no progress */
	void (*progress)(void *with, size_t done, size_t steps, const char *doing,
			 const char *commit);
	void *with;

	/* Worktrees that bisect_clean_up() removes. */
	struct revision tree[2];
	size_t steps;
};

/*
 * "A..B" -> the ends, and the working directory. -EINVAL: A is not an ancestor of B.
 */
int bisect_range(struct bisect_state *s, const char *range, char *prefix, size_t room,
		 struct revision_signals *signals, struct tare_error *err);
/* Exactly one event, which the exact engine counts. */
int bisect_check_event(const struct bisect_state *s, struct tare_error *err);
/* The path of the state's file. */
int bisect_path(char out[PATH_MAX], struct revision_signals *signals, struct tare_error *err);
int bisect_save(const struct bisect_state *s, const char *path, struct tare_error *err);
/*
 * -EINVAL: there is no answer, and trying again would not help. -EINTR: a signal. Free the result
 * in any case.
 */
int bisect_run(struct bisect_result *out, struct bisect_job *job, struct tare_error *err);
/* Remove the folder, which this process has made, and its worktrees. */
void bisect_clean_up(struct bisect_state *s, struct revision_signals *signals);
/*
 * The same for the folder of a state that was read, if it is one that a killed tare left. Any other
 * folder stays.
 */
void bisect_clean_up_left(struct bisect_state *s);
void bisect_result_free(struct bisect_result *r);

#endif
