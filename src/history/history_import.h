/* SPDX-License-Identifier: MIT */
/*
 * Values that other tools stored, or that tare history export wrote. Untrusted input. Nothing is
 * added to what the file says: a value without a commit has the one of the caller, or is refused.
 */
#ifndef HISTORY_HISTORY_IMPORT_H
#define HISTORY_HISTORY_IMPORT_H

#include "history/history.h"

struct history_import {
	const struct history_commit *commit; /* of files that name none; NULL: refuse these */
	const char *machine;                 /* "": not known */
};

int history_import_parse(struct history_batch *to, const char *text, size_t n, const char *name,
			 const struct history_import *how, struct tare_error *err);
/*
 * The SQLite file of rustc-perf. *undated: the number of values of releases, which have no date, is
 * added; these are left out.
 */
int history_import_rustc(struct history_batch *to, const char *path,
			 const struct history_import *how, size_t *undated, struct tare_error *err);

#endif
