/* SPDX-License-Identifier: MIT */
/* The output of `tare sharing`. */
#ifndef MEMORY_SHARING_SHARING_VIEW_H
#define MEMORY_SHARING_SHARING_VIEW_H

#include "memory/sharing/sharing_named.h"
#include "output/style.h"

struct sharing_shown {
	const char *path;
	const struct sharing_named *named;
	uint32_t line_size;
	size_t limit; /* lines; 0: all */
	bool all;     /* also lines without contention */
};

void sharing_text(struct text *out, const struct sharing_shown *s, const struct style *style);
/* One row for each thread's accesses to a range of bytes from one place in the code. */
void sharing_csv(struct text *out, const struct sharing_shown *s);
/* tare/sharing/1 */
void sharing_json(struct text *out, const struct sharing_shown *s);

#endif
