/* SPDX-License-Identifier: MIT */
/*
 * A formula over the columns of a profile, such as "instructions / cycles", evaluated for each row
 * and frame.
 */
#ifndef PROFILE_REPORT_RATIO_H
#define PROFILE_REPORT_RATIO_H

#include "profile/stacks.h"
#include "event/metric.h"

struct ratio {
	char *text;
	struct formula *formula;
	uint32_t *column; /* per name in the formula */
	double *value;    /* private */
};

/*
 * Names in the formula are those of events; modifiers (":u") may be left out if that is
 * unambiguous.
 */
int ratio_parse(struct ratio *out, const char *text, const struct stacks *s,
		struct tare_error *err);
/* Takes one value per column; false if the result is undefined (a division by 0). */
bool ratio_of(struct ratio *r, const uint64_t *values, double *out);
void ratio_free(struct ratio *r);

/* The column of an event as written by a user, or SET_NONE with the available names. */
uint32_t ratio_column(const struct stacks *s, const char *name, struct tare_error *err);

#endif
