/* SPDX-License-Identifier: MIT */
/*
 * A profile as a table: one row for what is alike by the chosen keys, with what was counted there
 * (self) and there or in what it called (total); and who called a function and whom it called.
 */
#ifndef PROFILE_REPORT_REPORT_H
#define PROFILE_REPORT_REPORT_H

#include "profile/stacks.h"

enum report_key {
	REPORT_COMM = 1,
	REPORT_PID = 2,
	REPORT_TID = 4,
	REPORT_MODULE = 8,
	REPORT_FUNCTION = 16,
	REPORT_LINE = 32,
	REPORT_ADDRESS = 64,
	REPORT_TRACE = 128, /* the fields of tracepoints that were asked for (struct samples_options) */
};

/* What is alike; members that are no keys are 0. Names are the profile's. */
struct report_what {
	uint64_t address;
	uint32_t module, function, file, line, flags; /* STACKS_ */
	uint32_t comm, pid, tid, trace;
};

struct report_options {
	unsigned keys;	 /* REPORT_ bits */
	uint32_t column; /* to sort by */
	bool by_total;
	const char *module, *function; /* patterns for fnmatch(3), NULL: any. Shares stay those of all */
};

struct report_row {
	struct report_what what;
	const uint64_t *self, *total, *samples; /* one per column; samples: that ended here */
	bool counted; /* `self` of the columns that are counted is what the exact engine counted; else by samples */
};

struct report {
	const struct stacks *stacks;
	unsigned keys;
	struct report_row *row; /* most first */
	size_t n;
	size_t hidden; /* rows that the patterns left out */
	uint64_t *values; /* private */
};

int report_make(struct report *out, const struct stacks *s, const struct report_options *opts,
		struct tare_error *err);
void report_free(struct report *r);

/*
 * How far a share of a column may be off for having been sampled only, and for what was lost: half the width of a
 * 95 % interval and the share of lost samples, as a share; 1 at most, 0 where every event is a sample. `column`: its sums; samples that stand for more weigh more.
 */
double report_margin(const struct stacks_column *column, double share);

/* A function's neighbours in the stacks: the direct callers, or what it called directly. */
struct report_relative {
	uint32_t function, module, flags; /* function 0: none (of a caller: it was the outermost) */
	uint64_t amount, samples;
};

struct report_relatives {
	uint64_t self, total, samples; /* of the function: here, here and below; samples of total */
	bool counted; /* `self` of a column that is counted is what the exact engine counted; else by samples */
	struct report_relative *caller, *callee; /* most first */
	size_t callers, callees;
};

/* Of every function whose name matches `pattern` (fnmatch(3); the name itself matches too). -ENOENT
 * when there is none. A stack with the function more than once counts once for each neighbour. */
int report_relatives(struct report_relatives *out, const struct stacks *s, const char *pattern,
		     uint32_t column, struct tare_error *err);
void report_relatives_free(struct report_relatives *r);

/* Does a function's name match a pattern, or is it the pattern? */
bool report_matches(const char *pattern, const char *name);

#endif
