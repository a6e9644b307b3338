/* SPDX-License-Identifier: MIT */
/* Turns a recording's mapping records into mappings: a module and its place in an address space. */
#ifndef SYMBOLS_MAPPED_H
#define SYMBOLS_MAPPED_H

#include "symbols/modules.h"
#include "symbols/address_spaces.h"
#include "perfdata/perfdata.h"

struct mapped {
	struct map map;
	uint32_t pid;
	bool kernel; /* for all processes */
};

/* The module of the kernel's own code. SET_NONE: out of memory. */
uint32_t mapped_kernel(struct modules *m);
/* 1 and *out for a valid MMAP, MMAP2 or KSYMBOL record, 0 for any other. Guests are ignored. */
int mapped_read(struct modules *m, const struct perfdata_record *rec, struct mapped *out,
		struct tare_error *err);
/*
 * Records the builds that ran: from a BUILD_ID record, and from the file's own list (in a pipe
 * complete only at its end).
 */
int mapped_build_id(struct modules *m, const struct perfdata_record *rec, struct tare_error *err);
int mapped_build_ids(struct modules *m, const struct perfdata *file, struct tare_error *err);

#endif
