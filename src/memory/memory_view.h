/* SPDX-License-Identifier: MIT */
/* What `tare memory` shows. */
#ifndef MEMORY_MEMORY_VIEW_H
#define MEMORY_MEMORY_VIEW_H

#include "memory/memory.h"
#include "output/remarks.h"

struct memory_shown {
	const char *path;
	const struct memory *memory;
	enum memory_sort sort;
	size_t limit; /* rows of a table; 0: all */
};

void memory_text(struct text *out, const struct memory_shown *s, const struct style *style);
/* Of one table: the column of a latency is there when it was measured. */
void memory_csv(struct text *out, const struct memory_shown *s, const struct memory_table *t);
/* tare/memory/1 */
void memory_json(struct text *out, const struct memory_shown *s, const struct memory_table *t);

/* Shared with what shows shared lines. */
void accessed_head_text(struct text *out, const char *path, const struct accessed *c);
/* Losses, damage, what was left out. */
void accessed_remarks(struct remarks *r, const struct accessed *c, const struct style *style);
/* Why accesses of these origins (bits) have no address, " (...)"; "" where that is not known. */
const char *accessed_addressless(unsigned origins);
/* Code without names. */
void accessed_unnamed_text(struct text *out, const struct accessed *c, uint64_t all, const struct style *style);
/* Notes, remarks, what they were made of, code without names. */
void accessed_quality_json(struct json *j, const struct accessed *c, const struct remarks *remarks);

#endif
