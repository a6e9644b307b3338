/* SPDX-License-Identifier: MIT */
/* One function with its counts, shown: for people, as JSON (docs/schema/tare-annotate-1.json) and as CSV. */
#ifndef PROFILE_REPORT_ANNOTATE_VIEW_H
#define PROFILE_REPORT_ANNOTATE_VIEW_H

#include "profile/report/annotate.h"
#include "profile/report/skid_view.h"
#include "output/style.h"

struct annotate_shown {
	const struct annotation *of;
	const char *path;    /* of the recording; NULL: a command was run */
	uint32_t column;     /* that shares are of */
	bool source;	     /* with the text of source lines */
	bool any_source;     /* whoever owns it: see source_is_shown() */
	double least_percent; /* instructions with less stand together as one line; text only */
	const char *root;    /* where source files are; "" */
	struct skid_known skid;
	const struct samples *samples; /* of the recording; NULL: a command was run */
};

void annotate_text(struct text *out, const struct annotate_shown *s, const struct style *style);
void annotate_json(struct text *out, const struct annotate_shown *s);
void annotate_csv(struct text *out, const struct annotate_shown *s);

#endif
