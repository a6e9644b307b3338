/* SPDX-License-Identifier: MIT */
/*
 * The parts of a recording of samples that were not decoded, one line per record type and reason.
 */
#ifndef PERFDATA_DUMP_UNDECODED_H
#define PERFDATA_DUMP_UNDECODED_H

#include "base/text.h"
#include "perfdata/perfdata_undecoded.h"
#include "output/json.h"

/*
 * "3 SAMPLE records were not decoded, the first at byte 4711: its fields do not fit", without a
 * newline.
 */
void undecoded_text(struct text *out, const struct perfdata *r,
		    const struct perfdata_undecoded *row);
/* The array "undecoded_records". */
void undecoded_json(struct json *j, const struct perfdata *r, bool spe_unread);

#endif
