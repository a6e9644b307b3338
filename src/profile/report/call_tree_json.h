/* SPDX-License-Identifier: MIT */
/*
 * A profile as one document, schema tare/stacks/1 (docs/schema/tare-stacks-1.json): the input for
 * flame graphs.
 */
#ifndef PROFILE_REPORT_CALL_TREE_JSON_H
#define PROFILE_REPORT_CALL_TREE_JSON_H

#include <stdbool.h>
#include "profile/call_tree.h"
#include "tare/reading.h"
#include "output/out.h"

struct call_tree_about {
	const char *title, *about;        /* title of its section; NULL: the page's default */
	const char *program;              /* the root */
	const enum tare_quality *quality; /* by column; NULL: not known */
	/*
	 * Stacks that are no larger than this part of the whole in any column are left out with
	 * their subtrees, and their amounts are added to the parent. 0: only those that are empty.
	 */
	double least;
	/* the recording was cut short: said here if no other document of the page says it */
	bool broke_off;
	/* the first two columns are one event before and after: shown as a difference */
	bool difference;
	bool shares; /* and their shares are compared */
	bool exact;  /* and both are counted, including callees: no change is noise */
	/* the tree's own samples one by one, up to 4 Mi: for a selection of time; NULL: none */
	struct sample_log *samples;
};

int call_tree_json(struct out *o, const struct call_tree *s, const struct call_tree_about *about,
		   struct tare_error *err);

#endif
