/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks, one a line, as flame graph programs read them: "comm;outer;inner 123". With a ratio
 * a third field is its value there; with a second profile there are two counts, before and after.
 */
#ifndef PROFILE_REPORT_FOLDED_H
#define PROFILE_REPORT_FOLDED_H

#include "profile/report/ratio.h"
#include "base/text.h"

struct folded_options {
	uint32_t column;
	struct ratio *ratio;	     /* or NULL */
	const struct stacks *before; /* or NULL; column `before_column` of it */
	uint32_t before_column;
	bool normalise;	 /* counts before are scaled to the sum after */
	bool with_comm;	 /* the command is the outermost frame */
};

/* Lines in the order of their text. `put` is called with what has been written so far, and empties it. */
int folded_write(struct text *out, const struct stacks *s, const struct folded_options *o,
		 int (*put)(void *arg, struct text *out, struct tare_error *err), void *arg,
		 struct tare_error *err);

#endif
