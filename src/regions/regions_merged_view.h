/* SPDX-License-Identifier: MIT */
/* `tare summarize --merge-kinds`: one row per name, as text and in the document. */
#ifndef REGIONS_REGIONS_MERGED_VIEW_H
#define REGIONS_REGIONS_MERGED_VIEW_H

#include "regions/regions_view.h"

/* A table per counter; sorts the rows for each. */
void regions_merged_text(struct text *out, const struct regions *r, const struct regions_shown *how,
			 const struct style *s);
/* The member "merged" of the open object. */
void regions_merged_json(struct json *j, const struct regions *r, const struct regions_shown *how);

#endif
