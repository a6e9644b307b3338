/* SPDX-License-Identifier: MIT */
/* The output of `tare memory`. */
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
/* tare/memory/1, of one table. CSV: its rows. */
void memory_document(struct text *out, enum output_format format, const struct memory_shown *s,
		     const struct memory_table *t);

/* Also used by the view of shared lines. */
void memory_samples_head_text(struct text *out, const char *path, const struct memory_samples *c);
/* Losses, damage, and omissions. */
void memory_samples_remarks(struct remarks *r, const struct memory_samples *c,
			    const struct style *style);
/* Why accesses of these origins (bits) have no address, as " (...)"; "" if that is not known. */
const char *memory_samples_addressless(unsigned origins);
/* Code without names. */
void memory_samples_unnamed_text(struct text *out, const struct memory_samples *c, uint64_t all,
				 const struct style *style);
/* Notes, remarks, the source of the accesses, code without names. */
void memory_samples_quality_json(struct json *j, const struct memory_samples *c,
				 const struct remarks *remarks);

#endif
