/* SPDX-License-Identifier: MIT */
/*
 * Shows one function with its counts: for people, as JSON (docs/schema/tare-annotate-1.json) and as
 * CSV.
 */
#ifndef PROFILE_REPORT_ANNOTATE_VIEW_H
#define PROFILE_REPORT_ANNOTATE_VIEW_H

#include "profile/report/annotate.h"
#include "profile/report/skid_view.h"
#include "output/style.h"

struct annotate_shown {
	const struct annotation *of;
	const char *path; /* of the recording; NULL: a command was run */
	uint32_t column;  /* the whole for shares */
	bool source;      /* with the text of source lines */
	bool any_source;  /* whoever owns the file: see source_is_shown() */
	/* instructions with a smaller share are folded into one line; text only */
	double least_percent;
	const char *root; /* directory with the source files, or "" */
	struct skid_known skid;
	const struct samples *samples; /* of the recording; NULL: a command was run */
};

void annotate_text(struct text *out, const struct annotate_shown *s, const struct style *style);
void annotate_json(struct text *out, const struct annotate_shown *s);
void annotate_csv(struct text *out, const struct annotate_shown *s);
/* A line with the events for which the counters of a group were read; or nothing. */
void annotate_mixed(struct text *out, const struct annotate_shown *s, const struct style *style);

#endif
