/* SPDX-License-Identifier: MIT */
/* What became of a recording, in a few lines: how much there is, what is missing, how far it can be trusted. */
#ifndef SAMPLE_RECORD_VIEW_H
#define SAMPLE_RECORD_VIEW_H

#include "sample/sample.h"
#include "output/style.h"

/* `file` NULL: standard output. `loss_only`: only what went wrong. */
void record_view(struct text *out, const struct sample_outcome *o, const char *file, uint64_t file_bytes,
		 bool loss_only, const struct style *style);

#endif
