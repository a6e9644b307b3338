/* SPDX-License-Identifier: MIT */
/* The functions of two measurements, row by row: where the instructions changed. */
#ifndef HISTORY_HISTORY_FUNCTIONS_H
#define HISTORY_HISTORY_FUNCTIONS_H

#include "history/history.h"

struct history_row {
	const char *name, *module; /* the name is "": other code */
	uint64_t before, after;
};

struct history_rows {
	struct history_row *row; /* owned; the other code last */
	size_t n;
	bool both; /* otherwise only `after` is known */
};

/*
 * The largest change first; if one side has no functions, the largest count first. Free the result
 * in any case. It refers to strings of the findings.
 */
int history_functions(struct history_rows *out, const struct history_finding *before,
		      const struct history_finding *after, struct tare_error *err);
/* The number of functions, at most `most`. */
size_t history_rows_shown(const struct history_rows *rows, size_t most);
/* The sum of the rows from `from` on. */
struct history_row history_other_rows(const struct history_rows *rows, size_t from);

#endif
