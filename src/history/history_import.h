/* SPDX-License-Identifier: MIT */
/*
 * Values that other tools stored, or that tare history export wrote. Untrusted input. Missing data
 * is not guessed: a value without a commit gets the caller's, or is refused.
 */
#ifndef HISTORY_HISTORY_IMPORT_H
#define HISTORY_HISTORY_IMPORT_H

#include "history/history.h"

struct history_import {
	const struct history_commit *commit; /* for files that name none; NULL: refuse them */
	const char *machine;                 /* "": not known */
};

/* A value of another tool: without minimum, maximum and number of the runs. */
struct history_result history_imported(const struct history_series *series, const char *tool,
				       const struct history_number *n,
				       const struct history_import *how);

int history_import_parse(struct history_batch *to, const char *text, size_t n, const char *name,
			 const struct history_import *how, struct tare_error *err);
/*
 * The SQLite file of rustc-perf. Values of releases are left out, because they have no date; their
 * number is added to *undated.
 */
int history_import_rustc(struct history_batch *to, const char *path,
			 const struct history_import *how, size_t *undated, struct tare_error *err);

#endif
