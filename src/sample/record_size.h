/* SPDX-License-Identifier: MIT */
/* How large a recording becomes: when that is enough, and when to say it. */
#ifndef SAMPLE_RECORD_SIZE_H
#define SAMPLE_RECORD_SIZE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/text.h"

enum { RECORD_LARGE = 1 << 30 }; /* bytes, of which a user hears while they are written */

struct record_size {
	uint64_t most;	  /* bytes; 0: any number */
	const char *file; /* NULL: nothing is kept, and so nothing said */
	const char *less; /* how fewer samples are taken */
	bool told;
};

/* Whether `bytes`, and `blocks` in the file of blocks beside it, written in `ns`, are enough. What a user is to hear of them now is added to `out`: once, where there is no limit. */
bool record_size_enough(struct record_size *s, uint64_t bytes, uint64_t blocks, uint64_t ns, struct text *out);

#endif
