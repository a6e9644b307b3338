/* SPDX-License-Identifier: MIT */
/* What regions cost, shown. Rows as they are sorted; `top` of them (0: all). */
#ifndef REGIONS_REGIONS_VIEW_H
#define REGIONS_REGIONS_VIEW_H

#include "regions/regions_merged.h"
#include "output/style.h"

struct regions_shown {
	size_t top;
	const char *match; /* only labels that hold this text; NULL: all */
	enum regions_key key;
	struct regions_merged *merged; /* one row per name in place of the rows; NULL: no */
};

/* Sorts the rows anew for each counter's table. */
void regions_text(struct text *out, struct regions *r, const struct regions_shown *how, const struct style *s);
void regions_json(struct text *out, const struct regions *r, const struct regions_shown *how);
/* A line per label and counter. */
void regions_csv(struct text *out, const struct regions *r, const struct regions_shown *how);

#endif
