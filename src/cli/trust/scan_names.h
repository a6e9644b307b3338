/* SPDX-License-Identifier: MIT */
/* Which event selectors have a documented name. */
#ifndef CLI_TRUST_SCAN_NAMES_H
#define CLI_TRUST_SCAN_NAMES_H

#include "pmu/pmu.h"

struct scan_name;

struct scan_names {
	struct scan_name *name;
	size_t n;
};

/* All that the tables of this machine say in terms of event and umask alone. */
int scan_names_read(struct scan_names *out, struct machine *m, struct tare_error *err);
void scan_names_free(struct scan_names *all);

/* "" where there is none. `with`: the names. */
const char *scan_name_of(const void *with, uint32_t select, uint32_t umask);

#endif
