/* SPDX-License-Identifier: MIT */
/* Show the counts of two engines for the same events, side by side. */
#ifndef STAT_CROSS_CHECK_VIEW_H
#define STAT_CROSS_CHECK_VIEW_H

#include "stat/cross_check.h"
#include "output/style.h"

struct cross_check_view {
	const struct cross_check_row *row;
	size_t n;
	char *const *argv; /* the command */
	const char *via;   /* the method of access to the registers */
};

void cross_check_text(struct text *out, const struct cross_check_view *v, const struct style *s);
void cross_check_json(struct text *out, const struct cross_check_view *v);

#endif
