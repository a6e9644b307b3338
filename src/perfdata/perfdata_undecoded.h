/* SPDX-License-Identifier: MIT */
/*
 * What a reader of a perf.data could not decode, by type of record and reason: one list for all
 * readers, so that every command names the same. The reader fills it while records are read; it is
 * complete at their end.
 */
#ifndef PERFDATA_PERFDATA_UNDECODED_H
#define PERFDATA_PERFDATA_UNDECODED_H

#include "perfdata/perfdata.h"

struct perfdata_undecoded {
	uint32_t type;   /* PD_RECORD_ */
	uint32_t aux;    /* of AUX data: its kind, as AUXTRACE_INFO announced it */
	const char *why; /* static; NULL: of AUX data, by its kind */
	uint64_t records;
	uint64_t bytes; /* of AUX data, or those of the records that `why` speaks of; 0: the records
			   themselves */
	uint64_t offset; /* of the first one's header in its file */
	unsigned file;   /* perfdata_record.file */
};

/* Rows in the order in which their first record was read. AUX data of Arm SPE is a row only where
 * `spe_unread`. */
size_t perfdata_undecoded(const struct perfdata *r, bool spe_unread, struct perfdata_undecoded *out,
			  size_t room);
/* One more record that a reader above this one could not decode. `why` is static. */
void perfdata_add_undecoded(struct perfdata *r, const struct perfdata_record *rec, const char *why,
			    uint64_t bytes);
/* "Intel PT"; NULL for a kind that has no name here. Source: Linux, tools/perf/util/auxtrace.h,
 * enum auxtrace_type */
const char *perfdata_aux_name(uint32_t kind);

enum { PERFDATA_UNDECODED_MAX = 16 }; /* rows; the last one also counts what does not fit */

#endif
