/* SPDX-License-Identifier: MIT */
/*
 * Raw data of precise sampling hardware: IBS registers field by field, SPE data packet by packet.
 */
#ifndef PERFDATA_DUMP_PRECISE_VIEW_H
#define PERFDATA_DUMP_PRECISE_VIEW_H

#include "base/text.h"
#include "perfdata/ibs.h"
#include "perfdata/spe.h"

/*
 * One indented line per register: its name, its bits, its fields. Fields that are not valid in this
 * sample are left out.
 */
void ibs_view(struct text *out, const struct ibs *s);

/* One packet as printed by perf: "LD GP-REG". */
void spe_view_packet(struct text *out, const struct spe_packet *p);

/*
 * One indented line per packet: its offset from `base`, its bytes, its text; a run of padding is
 * one line. Returns the bytes shown: fewer than n if the last packet continues past them.
 */
size_t spe_view(struct text *out, const uint8_t *data, size_t n, uint64_t base);

#endif
