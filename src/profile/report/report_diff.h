/* SPDX-License-Identifier: MIT */
/*
 * Two recordings of samples as one profile, and which changes exceed the sampling noise. Other
 * differences from run to run cannot be known from one recording of each.
 */
#ifndef PROFILE_REPORT_REPORT_DIFF_H
#define PROFILE_REPORT_REPORT_DIFF_H

#include "profile/report/report.h"

enum report_side { REPORT_BEFORE, REPORT_AFTER, REPORT_SIDES };

/* false discovery rate: at most this part of the changes reported as beyond the noise are chance */
#define REPORT_DIFF_Q    0.05
#define REPORT_DIFF_LOST 0.5 /* if a larger part of a side's samples is lost, no change is judged */

/*
 * Both in one, with a column for each side (enum report_side): `column[side]` of `from[side]`.
 * Frames match by function, and by module (its name without folders) and line if `keys` has them;
 * tasks match by command, if `keys` has it. `same` (it and its members may be NULL): the names of
 * one module before and after; the result has the second one. NULL: out of memory.
 */
struct call_tree *report_pair(const struct call_tree *const from[REPORT_SIDES],
			      const uint32_t column[REPORT_SIDES], unsigned keys,
			      const char *const same[REPORT_SIDES], struct tare_error *err);

/* Amounts, or shares of their recording (from 0 to 1). */
struct report_change {
	double before, after, change;
	double half; /* half of the 95 % interval of the change, from sampling and lost samples */
	/*
	 * probability of such a change by chance; two-sided. The lost samples may all belong to one
	 * row, or none of them
	 */
	double p;
	/* adjusted for all rows, by Benjamini and Hochberg; p before report_diff_judge() */
	double q;
	bool beyond; /* exceeds the noise: q <= REPORT_DIFF_Q */
	bool exact;  /* both amounts are counted: half is 0, and any change is beyond the noise */
};

/* Compares one amount of either column, by samples. */
struct report_change report_change(const struct call_tree_column column[REPORT_SIDES],
				   uint64_t before, uint64_t after, bool shares);

/*
 * Compares the totals: by the counts if both sides have them, without error (half is 0 and any
 * difference is beyond the noise), else by samples. Not for shares.
 */
struct report_change report_change_in_all(const struct call_tree_column column[REPORT_SIDES]);
/* both sides are counted */
bool report_diff_counted(const struct call_tree_column column[REPORT_SIDES]);
/* every event is a sample, on both sides */
bool report_diff_census(const struct call_tree_column column[REPORT_SIDES]);
/* and per instruction: rows are exact */
bool report_diff_exact(const struct call_tree_column column[REPORT_SIDES]);

/* Then no change is judged: each p is 1. */
bool report_diff_too_much_lost(const struct call_tree_column column[REPORT_SIDES]);

/*
 * The side that was sampled more densely, by more than 1 %, if taking samples adds to the event's
 * count. A higher amount there may be the cost of sampling, so it is not judged (its p is 1).
 * REPORT_SIDES: neither.
 */
enum report_side report_diff_denser(const struct call_tree_column column[REPORT_SIDES]);

struct report_diff_row {
	const struct report_row *row;
	struct report_change self, total;
};

struct report_diff {
	struct report report; /* of the pair */
	/* changes beyond the noise first, then by the size of the change */
	struct report_diff_row *row;
	size_t n;
	bool shares, by_total;
	bool same;  /* the exact engine took the same samples on both sides */
	bool exact; /* all rows, in the column they are sorted by */
};

/* `pair` comes from report_pair() and stays the caller's. */
int report_diff_make(struct report_diff *out, const struct call_tree *pair,
		     const struct report_options *opts, bool shares, struct tare_error *err);
bool report_diff_all_exact(const struct report_diff *d); /* each row, and including callees */
void report_diff_free(struct report_diff *d);

#endif
