/* SPDX-License-Identifier: MIT */
/* A formula over the columns of a profile, such as "instructions / cycles", worth something else in
 * each row and at each frame. */
#ifndef PROFILE_REPORT_RATIO_H
#define PROFILE_REPORT_RATIO_H

#include "profile/stacks.h"
#include "event/metric.h"

struct ratio {
	char *text;
	struct formula *formula;
	uint32_t *column; /* of each of its names */
	double *value;	  /* private */
};

/* The columns' names are events; their modifiers (":u") may be left out where that is clear. */
int ratio_parse(struct ratio *out, const char *text, const struct stacks *s,
		struct tare_error *err);
/* By one value per column; false where it is none (a division by 0). */
bool ratio_of(struct ratio *r, const uint64_t *values, double *out);
void ratio_free(struct ratio *r);

/* The column of an event as a user writes it, or SET_NONE with the names there are. */
uint32_t ratio_column(const struct stacks *s, const char *name, struct tare_error *err);

#endif
