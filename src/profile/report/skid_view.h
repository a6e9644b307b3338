/* SPDX-License-Identifier: MIT */
/* What is known of a recording's skid: of each event how far its samples lie from their cause, and what that did to the functions. */
#ifndef PROFILE_REPORT_SKID_VIEW_H
#define PROFILE_REPORT_SKID_VIEW_H

#include "profile/report/skid_kept.h"
#include "profile/report/skid_shift.h"
#include "output/json.h"

struct skid_known {
	const struct skids_kept *kept; /* NULL: not looked for */
	bool asked;		       /* say so, too, where nothing is known */
};

/* A line of one event. */
void skid_known_text(struct text *out, const struct skid_known *known, const struct samples *s, uint32_t column);
/* "skid": of one event, or null. */
void skid_known_json(struct json *j, const struct skid_known *known, const struct perfdata *file, const char *event);

/* Functions whose shares are others by the precise event. */
void skid_shift_text(struct text *out, const struct skid_shift *k, const struct samples *s);
void skid_shift_json(struct json *j, const struct skid_shift *k, const struct samples *s);

#endif
