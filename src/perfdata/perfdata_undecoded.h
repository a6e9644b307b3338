/* SPDX-License-Identifier: MIT */
/*
 * The data that a reader of a perf.data could not decode, by record type and reason: one list for
 * all readers, so that all commands report the same. The reader fills it while reading; it is
 * complete at the end of the records.
 */
#ifndef PERFDATA_PERFDATA_UNDECODED_H
#define PERFDATA_PERFDATA_UNDECODED_H

#include "perfdata/perfdata.h"

struct perfdata_undecoded {
	uint32_t type;   /* PD_RECORD_ */
	uint32_t aux;    /* for AUX data: its kind, from AUXTRACE_INFO */
	const char *why; /* static; NULL: AUX data of that kind */
	uint64_t records;
	/* of AUX data, or of the records with that `why`; 0: of the records themselves */
	uint64_t bytes;
	uint64_t offset; /* of the first one's header in its file */
	unsigned file;   /* perfdata_record.file */
};

/* Rows in the order of their first record. AUX data of Arm SPE has a row only if `spe_unread`. */
size_t perfdata_undecoded(const struct perfdata *r, bool spe_unread, struct perfdata_undecoded *out,
			  size_t room);
/* Adds a record that a caller of this reader could not decode. `why` is static. */
void perfdata_add_undecoded(struct perfdata *r, const struct perfdata_record *rec, const char *why,
			    uint64_t bytes);
/*
 * "Intel PT"; NULL for an unknown kind. Source: Linux, tools/perf/util/auxtrace.h, enum
 * auxtrace_type
 */
const char *perfdata_aux_name(uint32_t kind);

/* most rows; the last one also counts everything that does not fit */
enum { PERFDATA_UNDECODED_MAX = 16 };

#endif
