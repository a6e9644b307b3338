/* SPDX-License-Identifier: MIT */
/* The output of `tare sharing`. */
#ifndef MEMORY_SHARING_SHARING_VIEW_H
#define MEMORY_SHARING_SHARING_VIEW_H

#include "memory/sharing/sharing_named.h"
#include "output/csv.h"
#include "output/style.h"

struct sharing_shown {
	const char *path;
	const struct sharing_named *named;
	uint32_t line_size;
	size_t limit; /* lines; 0: all */
	bool all;     /* also lines without contention */
};

void sharing_text(struct text *out, const struct sharing_shown *s, const struct style *style);
/* tare/sharing/1. CSV: a row for each thread's accesses to a range of bytes from one place. */
void sharing_document(struct text *out, enum output_format format, const struct sharing_shown *s);

#endif
