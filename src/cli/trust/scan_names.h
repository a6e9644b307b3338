/* SPDX-License-Identifier: MIT */
/* The documented names of event selectors. */
#ifndef CLI_TRUST_SCAN_NAMES_H
#define CLI_TRUST_SCAN_NAMES_H

#include "pmu/pmu.h"

struct scan_name;

struct scan_names {
	struct scan_name *name;
	size_t n;
};

/* All events of this machine's tables that consist of event and umask only. */
int scan_names_read(struct scan_names *out, struct machine *m, struct tare_error *err);
void scan_names_free(struct scan_names *all);

/* "" if there is none. `with`: the names. */
const char *scan_name_of(const void *with, uint32_t select, uint32_t umask);

#endif
