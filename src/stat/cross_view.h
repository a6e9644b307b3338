/* SPDX-License-Identifier: MIT */
/* Show the counts of two engines for the same events, side by side. */
#ifndef STAT_CROSS_VIEW_H
#define STAT_CROSS_VIEW_H

#include "stat/cross.h"
#include "output/style.h"

struct cross_view {
	const struct cross_row *row;
	size_t n;
	char *const *argv; /* the command */
	const char *via;   /* the method of access to the registers */
};

void cross_text(struct text *out, const struct cross_view *v, const struct style *s);
void cross_json(struct text *out, const struct cross_view *v);

#endif
