/* SPDX-License-Identifier: MIT */
/*
 * The exact profile, by function or by line: how many instructions each executed, over one run or
 * several. Takes what the exact engine says of each run; every instruction is in exactly one row,
 * so the rows add up to the total.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "exact/exact.h"

enum profile_by { PROFILE_NONE, PROFILE_FUNCTION, PROFILE_LINE };

struct profile_row {
	const char *function; /* NULL: not known; its first address where no symbol names it */
	const char *module;   /* path of the file, or "[vdso]", "[anonymous memory]" */
	const char *file;     /* by line, where known; else NULL */
	unsigned line;
	int64_t instructions; /* in the run shown */
	int64_t min, max;     /* over the runs */
	const char *why, *remedy; /* why it has no name; NULL: it has */
	int64_t *run;   /* instructions per run */
	uint64_t start; /* of the function, in the file; UINT64_MAX without one */
};

struct profile_table {
	enum profile_by by;
	struct profile_row *row; /* by instructions, most first */
	size_t n;
	int64_t total; /* of the run shown; the rows' sum */
	unsigned
	    shown; /* that run's number, from 0: the one with the median total (the lower of two) */
	unsigned runs;
	size_t varied;   /* rows whose counts differed between the runs */
	int64_t unsplit; /* instructions of blocks over several rows, given to the first of them */
};

enum { PROFILE_RUNS_MAX = 1000 };

struct profile;

struct profile *profile_new(enum profile_by by, struct tare_error *err);
/* One run's. */
int profile_add(struct profile *p, const struct exact_profile *of, struct tare_error *err);
/* A view, until the next call. NULL with err when there is no run. */
const struct profile_table *profile_table(struct profile *p, struct tare_error *err);
void profile_free(struct profile *p);

#endif
