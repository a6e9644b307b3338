/* SPDX-License-Identifier: MIT */
/*
 * A formula over the columns of a profile, such as "instructions / cycles", evaluated for each row
 * and frame.
 */
#ifndef PROFILE_REPORT_DERIVED_COLUMN_H
#define PROFILE_REPORT_DERIVED_COLUMN_H

#include "profile/call_tree.h"
#include "event/metric.h"

struct derived_column {
	char *text;
	struct formula *formula;
	uint32_t *column; /* per name in the formula */
	double *value;    /* private */
};

/*
 * Names in the formula are those of events; modifiers (":u") may be left out if that is
 * unambiguous.
 */
int derived_parse(struct derived_column *out, const char *text, const struct call_tree *s,
		  struct tare_error *err);
/* Takes one value per column; false if the result is undefined (a division by 0). */
bool derived_of(struct derived_column *r, const uint64_t *values, double *out);
void derived_free(struct derived_column *r);

/* The column of an event as written by a user, or SET_NONE with the available names. */
uint32_t derived_column(const struct call_tree *s, const char *name, struct tare_error *err);

#endif
