/* SPDX-License-Identifier: MIT */
/* The exact profile, shown: a table for people, and the machine forms that go with tare stat's. */
#ifndef PROFILE_REPORT_PROFILE_VIEW_H
#define PROFILE_REPORT_PROFILE_VIEW_H

#include "profile/profile.h"
#include "output/json.h"
#include "output/style.h"

/* At most `limit` rows (0: all); what is left out is one line, so that the table adds up. */
void profile_text(struct text *out, const struct profile_table *t, size_t limit,
		  const struct style *s);
/* The members "profile" and "profile_about" of the object that is open
 * (docs/schema/tare-stat-1.json). */
void profile_json(struct json *j, const struct profile_table *t, size_t limit);
/* With a header line of its own. */
void profile_csv(struct text *out, const struct profile_table *t, size_t limit);

#endif
