/* SPDX-License-Identifier: MIT */
/* What two engines counted of the same events, side by side. */
#ifndef VIEW_CROSS_VIEW_H
#define VIEW_CROSS_VIEW_H

#include "analyze/cross.h"
#include "view/style.h"

struct cross_view {
	const struct cross_row *row;
	size_t n;
	char *const *argv; /* the command */
	const char *via;   /* how the registers were reached */
};

void cross_text(struct text *out, const struct cross_view *v, const struct style *s);
void cross_json(struct text *out, const struct cross_view *v);

#endif
