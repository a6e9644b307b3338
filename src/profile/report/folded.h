/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks, one per line, as flame graph programs read them: "comm;outer;inner 123". With a
 * ratio, its value is a third field; with a second profile there are two counts, before and after.
 */
#ifndef PROFILE_REPORT_FOLDED_H
#define PROFILE_REPORT_FOLDED_H

#include "profile/report/derived_column.h"
#include "base/text.h"

struct folded_options {
	uint32_t column;
	struct derived_column *ratio;   /* or NULL */
	const struct call_tree *before; /* or NULL; column `before_column` of it */
	uint32_t before_column;
	bool normalise; /* scale the counts before to the sum after */
	bool with_comm; /* make the command the outermost frame */
};

/* Lines are sorted. `put` is called with the text so far, and empties the buffer. */
int folded_write(struct text *out, const struct call_tree *s, const struct folded_options *o,
		 int (*put)(void *arg, struct text *out, struct tare_error *err), void *arg,
		 struct tare_error *err);

#endif
