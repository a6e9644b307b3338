/* SPDX-License-Identifier: MIT */
/* What measureme says of a recording as a whole. */
#ifndef REGIONS_TIMELINE_MEASUREME_META_H
#define REGIONS_TIMELINE_MEASUREME_META_H

#include <stdint.h>
#include "base/text.h"

struct mm_meta {
	uint64_t start_ns, pid;
	struct text command, counter, unit; /* empty: not there */
};

/* Takes what it finds in n bytes; never fails, for the writer's JSON often is none. */
void mm_meta_read(struct mm_meta *m, const char *json, size_t n);
void mm_meta_free(struct mm_meta *m);

#endif
