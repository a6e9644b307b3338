/* SPDX-License-Identifier: MIT */
/*
 * Which commit of a range made a command slower: the commits that were tried, what their counts
 * say, and which one to try next. Pure; git knows the order of the commits.
 */
#ifndef BISECT_BISECT_H
#define BISECT_BISECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

enum { BISECT_COMMIT_BYTES = 72, BISECT_TEXT_BYTES = 512, BISECT_PAIRS_MOST = 4000 };

/* Times of neighbouring runs, in ns: of the good commit, and of this one. */
struct bisect_pair {
	uint64_t good, this;
};

struct bisect_try {
	char commit[BISECT_COMMIT_BYTES];
	char parent[BISECT_COMMIT_BYTES];                           /* the first one; "": none */
	char date[32];                                              /* of the author: 2026-11-28 */
	char author[BISECT_TEXT_BYTES], subject[BISECT_TEXT_BYTES]; /* untrusted */
	bool skipped;
	char why[BISECT_TEXT_BYTES]; /* skipped */
	uint64_t count;              /* not skipped; exact events */
	struct bisect_pair *pair;    /* not skipped; times; owned */
	size_t pairs, room;
};

/* In the order of trying: the good commit, the bad one, and the commits between them. */
struct bisect_tries {
	struct bisect_try *t; /* owned */
	size_t n, room;
};

enum { BISECT_GOOD, BISECT_BAD, BISECT_ENDS };

/* NULL: out of memory. */
struct bisect_try *bisect_add(struct bisect_tries *tries);
/* NULL: it was not tried. */
const struct bisect_try *bisect_find(const struct bisect_tries *tries, const char *commit);
/* false: out of memory. */
bool bisect_add_pair(struct bisect_try *t, uint64_t good, uint64_t this);
void bisect_free(struct bisect_tries *tries);
/* "cpu-time", "wall": measured in pairs of runs; other events are counted exactly. */
bool bisect_is_time(const char *event);

/*
 * Does the bad commit count more than the good one by more than `threshold` percent? 0: by any
 * amount.
 */
bool bisect_differs(uint64_t good, uint64_t bad, double threshold);
/* Is a count nearer to the bad one (good < bad)? If it is in the middle, it is not. */
bool bisect_is_bad(uint64_t good, uint64_t bad, uint64_t count);

struct bisect_choice {
	size_t next;    /* index of the commit to try; SIZE_MAX: none is left */
	size_t skipped; /* candidates that were skipped */
};
/*
 * commit: n candidates, the one first that splits the range best (git rev-list --bisect-all); `bad`
 * is the earliest that is known to be bad, and is no candidate. After skipped ones, a commit at
 * some distance is chosen: neighbours of a commit that cannot be built often cannot be built,
 * either.
 */
struct bisect_choice bisect_choose(const struct bisect_tries *tries, const char *const *commit,
				   size_t n, const char *bad);

/*
 * The try with the largest increase over its parent, if both were counted; NULL: none.
 */
const struct bisect_try *bisect_largest_step(const struct bisect_tries *tries);

#endif
