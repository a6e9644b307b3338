/* SPDX-License-Identifier: MIT */
/*
 * The exact profile, by function or by line: how many instructions each executed, in one run or
 * several. Its input is the exact engine's output of each run; every instruction is in exactly one
 * row, so the rows add up to the total.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "exact/exact.h"

enum profile_by { PROFILE_NONE, PROFILE_FUNCTION, PROFILE_LINE };

struct profile_row {
	const char *function; /* NULL: not known; address is its first one if it has no symbol */
	const char *module;   /* path of the file, or "[vdso]", "[anonymous memory]" */
	const char *file;     /* by line, if known; else NULL */
	unsigned line;
	int64_t instructions;     /* in the run shown */
	int64_t min, max;         /* over all runs */
	const char *why, *remedy; /* why it has no name; NULL if it has one */
	int64_t *run;             /* instructions per run */
	uint64_t start;           /* of the function, in the file; UINT64_MAX: none */
	/*
	 * by function: the largest function that was inlined into it, in the first run; NULL: small
	 * parts, or none
	 */
	const char *inlined;
};

struct profile_table {
	enum profile_by by;
	struct profile_row *row; /* by instructions, most first */
	size_t n;
	int64_t total;  /* of the run shown; the sum of the rows */
	unsigned shown; /* index of that run: the one with the median total (the lower of two) */
	unsigned runs;
	size_t varied; /* rows with counts that differ between the runs */
	/* instructions of blocks that span several rows, all added to the first row */
	int64_t unsplit;
};

enum { PROFILE_RUNS_MAX = 1000 };

struct profile;

struct profile *profile_new(enum profile_by by, struct tare_error *err);
/* Adds the counts of one run. */
int profile_add(struct profile *p, const struct exact_profile *of, struct tare_error *err);
/* Valid until the next call. NULL with err if there is no run. */
const struct profile_table *profile_table(struct profile *p, struct tare_error *err);
void profile_free(struct profile *p);

#endif
