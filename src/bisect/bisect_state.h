/* SPDX-License-Identifier: MIT */
/*
 * A bisection: the options of the user, and the results so far. It is kept in a file in the git
 * directory, so that an interrupted one can continue.
 */
#ifndef BISECT_BISECT_STATE_H
#define BISECT_BISECT_STATE_H

#include "base/temp_folder.h"
#include "base/text.h"
#include "bisect/bisect.h"

struct bisect_state {
	/* What the user asked for. */
	char end[BISECT_ENDS][BISECT_COMMIT_BYTES];
	char *build; /* shell command; NULL: none */
	char *event;
	char *prefix; /* working directory below the top of the repository: "src/", "" */
	char **argv;
	bool first_parent;
	double threshold;    /* percent */
	uint64_t timeout_ns; /* of one run; 0: none */
	double confidence;   /* percent; with times */

	char folder[FILE_FOLDER_ROOM]; /* of the worktrees; "": none */
	struct bisect_tries tries;
	char *text; /* of the file that was read; the strings are in it. NULL: none */
};

/* Is the same asked for, by the same version of tare? */
bool bisect_state_same(const struct bisect_state *a, const struct bisect_state *b);
void bisect_state_write(struct text *out, const struct bisect_state *s);
/*
 * Of tries, sets only the commit and the result. -EINVAL: not such a file, or of another version of
 * tare; folder is set then, too, if it was read. Free the result in any case.
 */
int bisect_state_parse(struct bisect_state *out, const char *text, size_t n, const char *name,
		       struct tare_error *err);
void bisect_state_free(struct bisect_state *s);

#endif
