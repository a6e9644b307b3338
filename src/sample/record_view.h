/* SPDX-License-Identifier: MIT */
/* The summary of a recording in a few lines: its size, what is missing, how reliable it is. */
#ifndef SAMPLE_RECORD_VIEW_H
#define SAMPLE_RECORD_VIEW_H

#include "sample/sample.h"
#include "output/style.h"

/* `file` NULL: standard output. `loss_only`: only problems. */
void record_view(struct text *out, const struct sample_outcome *o, const char *file,
		 uint64_t file_bytes, bool loss_only, const struct style *style);

#endif
