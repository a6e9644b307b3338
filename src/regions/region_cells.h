/* SPDX-License-Identifier: MIT */
/* Parts that the views of regions share: a label, a counter's amount, table rows. */
#ifndef REGIONS_REGION_CELLS_H
#define REGIONS_REGION_CELLS_H

#include "regions/labels.h"
#include "regions/async_spans.h"
#include "regions/timeline/timeline.h"
#include "output/json.h"
#include "output/style.h"

/*
 * "name", "name(arg, arg)" or "name [kind]", in at most `most` columns. A generic kind is shown
 * only if it distinguishes two labels.
 */
void put_label(struct text *out, const struct style *s, const struct labels *of, uint32_t number,
	       size_t most);
/* A counter's amount: a time in a suitable unit, or a count with thousands separators. */
void put_amount(struct text *out, const struct style *s, const char *unit, double amount);
void grid_amount(struct grid *g, unsigned column, enum ink ink, const struct style *s,
		 const char *unit, double amount);
/* Without a counter: how often each label ran, its name, a remark. */
extern const struct grid_column count_columns[3];
/* A difference: the same, always with a sign; 0 is "0". */
void put_change(struct text *out, const struct style *s, const char *unit, double change);
/* label, kind and arguments, as in every JSON document about regions. */
void json_label(struct json *j, const struct labels_entry *l);
/* " (file:line)", the source location of a label, if known. */
void put_source(struct text *out, const char *file, uint32_t line);
/* "2 begun and not ended, 1 finished again": the unmatched ends. */
void put_unbalanced(struct text *out, const struct region_unbalanced *u);
/* "3 points were lost", also if the number is not known; nothing if none were lost. */
void put_points_lost(struct text *out, uint64_t lost, bool unknown);
/* "x86-64, MODEL": the machine of a recording; nothing if it is not known. */
void put_machine(struct text *out, const struct timeline_machine *m);
/* The machines of recordings in one view. Each is added; then a note is shown if they differ. */
struct machines {
	const char *path, *other_path; /* of the first, and of the first one that differs */
	const struct timeline_machine *first, *other;
	size_t more;                /* the number of others */
	enum timeline_machines how; /* the largest difference */
};
void machines_add(struct machines *m, const char *path, const struct timeline_machine *one);
void put_machines(struct text *out, const struct style *s, const struct machines *m);
/* "kind", "cpu" or null: the type of the difference. */
void json_machines(struct json *j, const struct machines *m);
void json_machine(struct json *j, const struct timeline_machine *m);

#endif
