/* SPDX-License-Identifier: MIT */
/*
 * Shows who allocates, as text, tare/allocations/1 (docs/schema/tare-allocations-1.json) and CSV.
 */
#ifndef MEMORY_ALLOCATIONS_VIEW_H
#define MEMORY_ALLOCATIONS_VIEW_H

#include "memory/allocations.h"
#include "output/csv.h"
#include "output/style.h"

struct allocations_shown {
	const char *path;
	struct allocations *of;
	bool by_function;
	enum allocations_sort sort;
	size_t limit; /* rows; 0: all */
	bool verbose; /* text: a line for each process, without a limit */
};

void allocations_text(struct text *out, const struct allocations_shown *s,
		      const struct style *style);
void allocations_document(struct text *out, enum output_format format,
			  const struct allocations_shown *s);

#endif
