/* SPDX-License-Identifier: MIT */
/*
 * The functions where the instructions changed: one exact recording of each side, matched by
 * function (demangled, inlined ones included) and module. The rows and the rest add up to the
 * totals.
 */
#ifndef COMPARE_COMPARE_CAUSE_H
#define COMPARE_COMPARE_CAUSE_H

#include "compare/compare_lines.h"
#include "profile/report/report_diff.h"
#include "profile/report/source_files.h"
#include "profile/samples.h"

struct compare_row {
	const char *function, *module; /* owned by the profile */
	bool inlined;                  /* into other functions */
	uint64_t amount[COMPARE_SIDES];
	int64_t change;
};

struct compare_cause {
	struct compare_row *row; /* the largest change first */
	size_t n;                /* including functions that did not change */
	size_t changed;
	uint64_t total[COMPARE_SIDES];
	int64_t rest[COMPARE_SIDES]; /* total minus rows: code that belongs to no file */
	bool by_samples; /* rows are estimated: `why` says why the exact counts were not usable */
	const char *why;

	/* of the function with the largest change; without rows if it is not by exact counts */
	struct compare_lines lines;
	struct source_files sources[COMPARE_SIDES];

	/* The recordings, for a flame graph. */
	struct samples samples[COMPARE_SIDES];
	struct call_tree *pair;
	struct report_diff diff;
};

/*
 * Run the side's command once more, and record its instructions in a perf.data file. stacks: also
 * record callers, by samples: a few thousand if the run has that many `instructions`. -EINTR:
 * *by_signal asked tare to stop.
 */
int compare_record(const struct compare_plan *plan, enum compare_side side, const char *path,
		   bool stacks, uint64_t instructions, int *by_signal, struct tare_error *err);
/*
 * Compares two such files. The programs with the given names (NULL: unknown) count as the same
 * module. Free the result in any case.
 */
int compare_cause_read(struct compare_cause *out, const char *const path[COMPARE_SIDES],
		       const char *const program[COMPARE_SIDES], struct tare_error *err);
void compare_cause_free(struct compare_cause *c);

#endif
