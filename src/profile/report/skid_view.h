/* SPDX-License-Identifier: MIT */
/*
 * Shows a recording's skid: how far each event's samples are from their cause, and the effect on
 * the functions.
 */
#ifndef PROFILE_REPORT_SKID_VIEW_H
#define PROFILE_REPORT_SKID_VIEW_H

#include "profile/report/skid_kept.h"
#include "profile/report/skid_shift.h"
#include "output/json.h"

struct skid_known {
	const struct skids_kept *kept; /* NULL: not measured */
	bool asked;                    /* print a line even if nothing is known */
};

/* One line for one event. */
void skid_known_text(struct text *out, const struct skid_known *known, const struct samples *s,
		     uint32_t column);
/* "skid" of one event, or null. */
void skid_known_json(struct json *j, const struct skid_known *known, const struct perfdata *file,
		     const char *event);

/* Functions with a different share by the precise event. */
void skid_shift_text(struct text *out, const struct skid_shift *k, const struct samples *s);
void skid_shift_json(struct json *j, const struct skid_shift *k, const struct samples *s);

#endif
