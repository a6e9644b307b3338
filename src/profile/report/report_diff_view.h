/* SPDX-License-Identifier: MIT */
/*
 * Shows the difference of two recordings of samples: for people, as JSON
 * (docs/schema/tare-report-diff-1.json), as CSV.
 */
#ifndef PROFILE_REPORT_REPORT_DIFF_VIEW_H
#define PROFILE_REPORT_REPORT_DIFF_VIEW_H

#include "profile/report/report_diff.h"
#include "profile/samples.h"
#include "output/json.h"
#include "output/style.h"

struct report_diff_shown {
	const char *path[REPORT_SIDES];
	const struct samples *samples[REPORT_SIDES];
	uint32_t column[REPORT_SIDES]; /* of the original profiles of the samples */
	const struct report_diff *diff;
	size_t limit;         /* rows; 0: all */
	double least_percent; /* leave out rows with a smaller share on both sides */
};

void report_diff_text(struct text *out, const struct report_diff_shown *r, const struct style *s);
/* One note per line, as in the text output. */
void report_diff_notes(struct text *out, const struct report_diff_shown *r);
void report_diff_document(struct text *out, enum output_format format,
			  const struct report_diff_shown *r);

#endif
