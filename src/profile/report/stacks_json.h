/* SPDX-License-Identifier: MIT */
/* A profile as one document, schema tare/stacks/1 (docs/schema/tare-stacks-1.json): what flame graphs are drawn from. */
#ifndef PROFILE_REPORT_STACKS_JSON_H
#define PROFILE_REPORT_STACKS_JSON_H

#include <stdbool.h>
#include "profile/stacks.h"
#include "tare/reading.h"
#include "output/out.h"

struct stacks_about {
	const char *title, *about; /* of its section; NULL: the page's own words */
	const char *program;	   /* the root */
	const enum tare_quality *quality; /* by column; NULL: not known */
	/*
	 * Stacks that are no more than this part of the whole in any column, with all that lie below them, are left out, and
	 * what they cost counts to the stack above them. 0: those that cost nothing at all.
	 */
	double least;
	bool broke_off;	 /* the recorder did not come to its end: said here where no other document of the page does */
	bool difference; /* the first two columns are one event's, before and after: shown as a difference */
	bool shares;	 /* and of those the shares are compared */
	bool exact;	 /* and both are counted, with callees, too: no change is noise */
};

int stacks_json(struct out *o, const struct stacks *s, const struct stacks_about *about, struct tare_error *err);

#endif
