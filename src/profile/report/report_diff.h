/* SPDX-License-Identifier: MIT */
/*
 * Two recordings of samples as one profile, and what of a row's change is more than the noise of having been sampled.
 * What differs from run to run besides is not known from one recording of each.
 */
#ifndef PROFILE_REPORT_REPORT_DIFF_H
#define PROFILE_REPORT_REPORT_DIFF_H

#include "profile/report/report.h"

enum report_side { REPORT_BEFORE, REPORT_AFTER, REPORT_SIDES };

#define REPORT_DIFF_Q 0.05 /* of the changes that are said to exceed the noise, at most this part does so by chance */
#define REPORT_DIFF_LOST 0.5 /* where more than this part of a side's samples is lost, no change is judged */

/*
 * Both in one, with a column for each side (enum report_side): `column[side]` of `from[side]`. Frames are alike by function,
 * and by module (its name without folders) and line where `keys` has them; tasks by command, where `keys` has it. NULL: no memory.
 */
struct stacks *report_pair(const struct stacks *const from[REPORT_SIDES], const uint32_t column[REPORT_SIDES], unsigned keys,
			   struct tare_error *err);

/* Amounts, or as shares of their recording (from 0 to 1). */
struct report_change {
	double before, after, change;
	double half; /* the change is within +- this, by 95 %, for having been sampled, and for what was lost */
	double p;    /* of a change as large if there were none; two-sided. What was lost may all have been of one place, or none of it */
	double q;    /* among all rows, by Benjamini and Hochberg; p before report_diff_judge() */
	bool beyond; /* it exceeds the noise: q <= REPORT_DIFF_Q */
	bool exact;  /* both amounts are counted: half is 0, and any change is beyond */
};

/* Of one amount in either column, by samples. */
struct report_change report_change(const struct stacks_column column[REPORT_SIDES], uint64_t before, uint64_t after, bool shares);

/*
 * Of the whole: by the counts where both sides have them, to the event (half is 0; what differs at all is beyond), else by samples. No share.
 */
struct report_change report_change_in_all(const struct stacks_column column[REPORT_SIDES]);
bool report_diff_counted(const struct stacks_column column[REPORT_SIDES]); /* both sides have them */
bool report_diff_exact(const struct stacks_column column[REPORT_SIDES]); /* and at each instruction: rows are exact */

/* Nothing is: each p is 1. */
bool report_diff_too_much_lost(const struct stacks_column column[REPORT_SIDES]);

/*
 * The side whose samples were asked for more often, by more than a hundredth, and were to be paid for in what is counted: what is
 * more there may be the price of its samples, and as an amount is not judged (its p is 1). REPORT_SIDES: neither.
 */
enum report_side report_diff_denser(const struct stacks_column column[REPORT_SIDES]);

struct report_diff_row {
	const struct report_row *row;
	struct report_change self, total;
};

struct report_diff {
	struct report report; /* of the pair */
	struct report_diff_row *row; /* what is sure first, then by the size of the change */
	size_t n;
	bool shares, by_total;
	bool same; /* the same samples on both sides, by the exact engine */
	bool exact; /* of every row, what rows are ordered by */
};

/* `pair` is report_pair()'s and stays the caller's. */
int report_diff_make(struct report_diff *out, const struct stacks *pair, const struct report_options *opts, bool shares,
		     struct tare_error *err);
bool report_diff_all_exact(const struct report_diff *d); /* each row, and with callees */
void report_diff_free(struct report_diff *d);

#endif
