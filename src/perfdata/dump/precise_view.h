/* SPDX-License-Identifier: MIT */
/* What precise sampling hardware wrote, as it stands: IBS registers field by field, SPE data packet by packet. */
#ifndef PERFDATA_DUMP_PRECISE_VIEW_H
#define PERFDATA_DUMP_PRECISE_VIEW_H

#include "base/text.h"
#include "perfdata/ibs.h"
#include "perfdata/spe.h"

/* One indented line a register: its name, its bits, its fields. What means nothing in this sample is left out. */
void ibs_view(struct text *out, const struct ibs *s);

/* One packet as perf prints it: "LD GP-REG". */
void spe_view_packet(struct text *out, const struct spe_packet *p);

/*
 * One indented line a packet: its offset counted from `base`, its bytes, its words; padding in a row is one line.
 * Returns the bytes shown: fewer than n when the last packet goes on past them.
 */
size_t spe_view(struct text *out, const uint8_t *data, size_t n, uint64_t base);

#endif
