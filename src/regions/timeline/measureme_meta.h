/* SPDX-License-Identifier: MIT */
/* The description of a measureme recording. */
#ifndef REGIONS_TIMELINE_MEASUREME_META_H
#define REGIONS_TIMELINE_MEASUREME_META_H

#include <stdint.h>
#include "base/text.h"

struct mm_meta {
	uint64_t start_ns, pid;
	struct text command, counter, unit; /* empty: missing */
};

/* Takes what it can parse in n bytes. Never fails, because the text often is not valid JSON. */
void mm_meta_read(struct mm_meta *m, const char *json, size_t n);
void mm_meta_free(struct mm_meta *m);

#endif
