/* SPDX-License-Identifier: MIT */
/* From a recording's records of mappings to what was mapped where: a module, and its place in an address space. */
#ifndef SYMBOLS_MAPPED_H
#define SYMBOLS_MAPPED_H

#include "symbols/modules.h"
#include "symbols/spaces.h"
#include "perfdata/perfdata.h"

struct mapped {
	struct map map;
	uint32_t pid;
	bool kernel; /* for all processes */
};

/* The kernel's own code, as modules_add() knows it. SET_NONE: out of memory. */
uint32_t mapped_kernel(struct modules *m);
/* 1 and *out for a MMAP, MMAP2 or KSYMBOL that says something, 0 for any other record. Guests are not looked at. */
int mapped_read(struct modules *m, const struct perfdata_record *rec, struct mapped *out, struct tare_error *err);
/* Which builds ran: of a BUILD_ID record, and of the file's own list (in a pipe complete only at its end). */
int mapped_build_id(struct modules *m, const struct perfdata_record *rec, struct tare_error *err);
int mapped_build_ids(struct modules *m, const struct perfdata *file, struct tare_error *err);

#endif
