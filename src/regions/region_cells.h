/* SPDX-License-Identifier: MIT */
/* Pieces that the views of regions share: a label, an amount of a counter, a table's rows. */
#ifndef REGIONS_REGION_CELLS_H
#define REGIONS_REGION_CELLS_H

#include "regions/labels.h"
#include "regions/region_halves.h"
#include "regions/timeline/timeline.h"
#include "output/json.h"
#include "output/style.h"

/* "name", "name(arg, arg)", "name [kind]"; kinds that say no more than that it is a region are left out, unless only they tell two labels
 * apart. At most `most` columns. */
void put_label(struct text *out, const struct style *s, const struct labels *of, uint32_t number, size_t most);
/* An amount of a counter: a time in the unit that suits, a count with separators. */
void put_amount(struct text *out, const struct style *s, const char *unit, double amount);
/* The same with its sign always, for differences; 0 is "0". */
void put_change(struct text *out, const struct style *s, const char *unit, double change);
/* label, kind and arguments, as every document of regions has them. */
void json_label(struct json *j, const struct labels_entry *l);
/* arguments in one field, separated by a byte that none can hold. */
void csv_label(struct text *out, const struct labels_entry *l);
/* " (file:line)", if the file is known: where a label stands in the source. */
void put_source(struct text *out, const char *file, uint32_t line);
/* "2 begun and not ended, 1 finished again": what has one end only. */
void put_unbalanced(struct text *out, const struct region_unbalanced *u);
/* "3 points were lost", also where it is not known how many were; nothing where none was. */
void put_points_lost(struct text *out, uint64_t lost, bool unknown);
/* "x86-64, MODEL": where a recording is from; nothing where that is not known. */
void put_machine(struct text *out, const struct timeline_machine *m);
/* The machines of recordings that are looked at together: each is added, then there is a note where they are not alike. */
struct machines {
	const char *path, *other_path; /* of the first, and the first that is not like it */
	const struct timeline_machine *first, *other;
	size_t more; /* others */
	enum timeline_machines how; /* the worst */
};
void machines_add(struct machines *m, const char *path, const struct timeline_machine *one);
void put_machines(struct text *out, const struct style *s, const struct machines *m);
/* "kind", "cpu" or null: in what. */
void json_machines(struct json *j, const struct machines *m);
void json_machine(struct json *j, const struct timeline_machine *m);

#endif
