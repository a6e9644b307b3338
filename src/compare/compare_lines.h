/* SPDX-License-Identifier: MIT */
/*
 * The source lines of one function where the instructions changed. Lines of both builds match if
 * their texts are equal or similar. Lines whose text is not known match by equal exact counts, as
 * unchanged lines have; between two such matches, by their distance from them.
 */
#ifndef COMPARE_COMPARE_LINES_H
#define COMPARE_COMPARE_LINES_H

#include "compare/compare_run.h"

struct compare_line {
	const char *file[COMPARE_SIDES]; /* NULL: there is no such line */
	const char *text; /* of the line after, or of one that is gone; NULL: not known */
	unsigned line[COMPARE_SIDES];
	uint64_t amount[COMPARE_SIDES];
	int64_t change;
};

struct compare_lines {
	struct compare_line *line; /* the largest change first; owned, the names are not */
	size_t n;                  /* including lines that did not change */
	size_t changed;
	uint64_t total[COMPARE_SIDES]; /* of the lines */
};

struct compare_counted_line {
	const char *file;
	const char *text; /* NULL: not known */
	unsigned line;
	uint64_t amount;
};

/* Both are sorted by file and line, and have no line twice. */
int compare_lines_match(struct compare_lines *out, const struct compare_counted_line *before,
			size_t n_before, const struct compare_counted_line *after, size_t n_after,
			struct tare_error *err);
void compare_lines_free(struct compare_lines *l);

#endif
