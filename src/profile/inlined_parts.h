/* SPDX-License-Identifier: MIT */
/*
 * The functions that were inlined into one function, by the weight of their instructions. A report
 * without rows for inlined functions names the largest one.
 */
#ifndef PROFILE_INLINED_PARTS_H
#define PROFILE_INLINED_PARTS_H

#include "symbols/symbols.h"

/* Only functions and parts of at least 1 / INLINED_SHARE of everything are reported. */
enum { INLINED_SHARE = 10 };

struct inlined_part {
	const char *name; /* of the symbols */
	uint64_t weight;
};

struct inlined_parts {
	struct inlined_part *part;
	size_t n, room;
	uint64_t all; /* the weight of all of them */
	bool failed;  /* out of memory */
};

/* Of an instruction. Does nothing if it is not in an inlined function. */
void inlined_parts_add(struct inlined_parts *p, struct symbols *s, uint64_t offset,
		       uint64_t weight);
/* The largest one, or NULL if all of them have less than 1 / INLINED_SHARE of the `total`. */
const char *inlined_parts_most(const struct inlined_parts *p, uint64_t total);
void inlined_parts_free(struct inlined_parts *p);

#endif
