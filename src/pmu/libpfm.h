/* SPDX-License-Identifier: MIT */
/*
 * Event names of libpfm4. Its tables for this CPU can always be encoded. Those of other CPUs can
 * only be encoded if the program set LIBPFM_ENCODE_INACTIVE=1 in its environment before the first
 * call here. `tare events` does; a library must not change its program's environment. Listing does
 * not need it.
 */
#ifndef PMU_LIBPFM_H
#define PMU_LIBPFM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct libpfm_event {
	char name[160]; /* complete: "skl::INST_RETIRED:ANY_P" */
	uint64_t config, config1, config2;
};

/*
 * Encode `name` by one table ("skl"; NULL: the core tables of this CPU). -ENOENT: the table has no
 * such event, or there is no table; -EINVAL: it has the event, but not with these attributes (err
 * has libpfm4's message).
 */
int libpfm_encode(const char *table, const char *name, struct libpfm_event *out,
		  struct tare_error *err);

/*
 * Every event of a table (NULL: of this CPU), as EVENT or EVENT:UMASK; stops when `visit` returns
 * non-zero, and returns that.
 */
int libpfm_each(const char *table, int (*visit)(void *arg, const char *name, const char *about),
		void *arg);

/* The number of core tables that contain a name, and the first one's name and description. */
unsigned libpfm_who_knows(const char *name, char table[32], char about[80]);

/* The core table of this CPU; false if libpfm4 has none. */
bool libpfm_own_table(char table[32]);

#endif
