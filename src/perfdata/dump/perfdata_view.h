/* SPDX-License-Identifier: MIT */
/* A perf.data as text: one line per record, lists on indented lines below it. */
#ifndef PERFDATA_DUMP_PERFDATA_VIEW_H
#define PERFDATA_DUMP_PERFDATA_VIEW_H

#include "base/text.h"
#include "perfdata/perfdata.h"

/* The head, the events, and every feature in the file. */
void perfdata_view_header(struct text *out, const struct perfdata *r);
void perfdata_view_record(struct text *out, const struct perfdata *r,
			  const struct perfdata_record *rec);
/* A hex dump of n bytes, 16 per line, each line after its offset. */
void perfdata_view_bytes(struct text *out, const unsigned char *bytes, size_t n);
/* Reports records that are missing, if any. */
void perfdata_view_loss(struct text *out, const struct perfdata *r);

#endif
