/* SPDX-License-Identifier: MIT */
/* The size of a recording: when to stop, and when to warn. */
#ifndef SAMPLE_RECORD_SIZE_H
#define SAMPLE_RECORD_SIZE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/text.h"

enum { RECORD_LARGE = 1 << 30 }; /* size in bytes at which the user is warned */

struct record_size {
	uint64_t most;    /* limit in bytes; 0: none */
	const char *file; /* NULL: nothing is kept, so there is no warning */
	const char *less; /* how to take fewer samples */
	bool told;
};

/*
 * Whether the `bytes`, and the `blocks` bytes in the allocation file, written in `ns`, reach the
 * limit. A warning for the user is added to `out`: once, if there is no limit.
 */
bool record_size_enough(struct record_size *s, uint64_t bytes, uint64_t blocks, uint64_t ns,
			struct text *out);

#endif
