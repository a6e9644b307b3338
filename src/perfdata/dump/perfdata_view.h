/* SPDX-License-Identifier: MIT */
/* A perf.data in words: one line a record, lists on indented lines below it. */
#ifndef PERFDATA_DUMP_PERFDATA_VIEW_H
#define PERFDATA_DUMP_PERFDATA_VIEW_H

#include "base/text.h"
#include "perfdata/perfdata.h"

/* The head, the events, and every feature that was found. */
void perfdata_view_header(struct text *out, const struct perfdata *r);
void perfdata_view_record(struct text *out, const struct perfdata *r,
			  const struct perfdata_record *rec);
/* n bytes as hexadecimal and text, 16 a line, each line after its offset. */
void perfdata_view_bytes(struct text *out, const unsigned char *bytes, size_t n);
/* What is missing from the records; nothing when nothing is. */
void perfdata_view_loss(struct text *out, const struct perfdata *r);

#endif
