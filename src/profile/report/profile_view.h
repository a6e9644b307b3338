/* SPDX-License-Identifier: MIT */
/* Shows the exact profile: a table for people, and the machine formats of tare stat. */
#ifndef PROFILE_REPORT_PROFILE_VIEW_H
#define PROFILE_REPORT_PROFILE_VIEW_H

#include "profile/profile.h"
#include "output/json.h"
#include "output/style.h"

/* At most `limit` rows (0: all); the others are added up in one line. */
void profile_text(struct text *out, const struct profile_table *t, size_t limit,
		  const struct style *s);
/*
 * Writes the members "profile" and "profile_about" into the open object
 * (docs/schema/tare-stat-1.json).
 */
void profile_json(struct json *j, const struct profile_table *t, size_t limit);
/* With its own header line. */
void profile_csv(struct text *out, const struct profile_table *t, size_t limit);

#endif
