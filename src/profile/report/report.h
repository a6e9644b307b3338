/* SPDX-License-Identifier: MIT */
/*
 * A profile as a table: one row per combination of the chosen keys, with the amounts there (self)
 * and there or in a callee (total); and the callers and callees of a function.
 */
#ifndef PROFILE_REPORT_REPORT_H
#define PROFILE_REPORT_REPORT_H

#include "profile/call_tree.h"

enum report_key {
	REPORT_COMM = 1,
	REPORT_PID = 2,
	REPORT_TID = 4,
	REPORT_MODULE = 8,
	REPORT_FUNCTION = 16,
	REPORT_LINE = 32,
	REPORT_ADDRESS = 64,
	REPORT_TRACE = 128, /* the requested fields of tracepoints (struct samples_options) */
};

/* The keys of a row; members that are no keys are 0. Names are the profile's. */
struct report_what {
	uint64_t address;
	uint32_t module, function, file, line, flags; /* STACKS_ */
	uint32_t comm, pid, tid, trace;
};

struct report_options {
	unsigned keys;   /* REPORT_ bits */
	uint32_t column; /* sort by this column */
	bool by_total;
	/* patterns for fnmatch(3), NULL: any. Shares remain shares of the whole */
	const char *module, *function;
};

struct report_row {
	struct report_what what;
	/* one per column; samples: with their innermost frame here */
	const uint64_t *self, *total, *samples;
	bool counted; /* `self` of counted columns is the exact engine's count; else by samples */
};

struct report {
	const struct call_tree *call_tree;
	unsigned keys;
	struct report_row *row; /* most first */
	size_t n;
	size_t hidden;    /* rows excluded by the patterns */
	uint64_t *values; /* private */
};

int report_make(struct report *out, const struct call_tree *s, const struct report_options *opts,
		struct tare_error *err);
void report_free(struct report *r);

/*
 * The margin of a column's share because of sampling and lost samples: half the width of a 95 %
 * interval plus the share of lost samples; at most 1, and 0 if every event is a sample. `column`:
 * its sums; samples with a larger amount weigh more.
 */
double report_margin(const struct call_tree_column *column, double share);

/* A function's neighbours in the stacks: its direct callers or its direct callees. */
struct report_relative {
	uint32_t function, module, flags; /* function 0: none (the function was outermost) */
	uint64_t amount, samples;
};

struct report_relatives {
	uint64_t self, total, samples; /* of the function: self, total; samples of total */
	bool counted; /* `self` of a counted column is the exact engine's count; else by samples */
	struct report_relative *caller, *callee; /* most first */
	size_t callers, callees;
};

/*
 * For all functions that report_matches_function() finds. -ENOENT if there is none. A stack with
 * the function more than once counts once for each neighbour.
 */
int report_relatives(struct report_relatives *out, const struct call_tree *s, const char *pattern,
		     uint32_t column, struct tare_error *err);
void report_relatives_free(struct report_relatives *r);

/* Does a name match the pattern, or equal it? NULL: any. */
bool report_matches(const char *pattern, const char *name);
/* The same for a function; its name without "(parameters)" may be equal, too. */
bool report_matches_function(const char *pattern, const char *name);

#endif
