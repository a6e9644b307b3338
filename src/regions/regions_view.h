/* SPDX-License-Identifier: MIT */
/* Show region costs. Rows in their sorted order; the first `top` of them (0: all). */
#ifndef REGIONS_REGIONS_VIEW_H
#define REGIONS_REGIONS_VIEW_H

#include "regions/regions_merged.h"
#include "output/json.h"
#include "output/style.h"

struct regions_shown {
	size_t top;
	const char *match; /* only labels that contain this text; NULL: all */
	enum regions_key key;
	struct regions_merged *merged; /* one row per name instead of the rows; NULL: no */
};

/* Sorts the rows again for each counter's table. */
void regions_text(struct text *out, struct regions *r, const struct regions_shown *how,
		  const struct style *s);
/* CSV: a row per label and counter. */
void regions_document(struct text *out, enum output_format format, const struct regions *r,
		      const struct regions_shown *how);

#endif
