/* SPDX-License-Identifier: MIT */
/* Where a user's scans are stored. */
#ifndef CLI_TRUST_SCAN_PATHS_H
#define CLI_TRUST_SCAN_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include "pmu/pmu.h"

/* For a CPU and a core PMU: the counts so far, below $XDG_STATE_HOME or ~/.local/state; scans
 * that include the kernel have another file. */
int scan_state_path(char *out, size_t room, const char *cpu, const char *pmu, bool kernel,
		    struct tare_error *err);
/* The table of findings, below $XDG_DATA_HOME or ~/.local/share, which `tare events` reads; also
 * one per mode. */
int scan_table_path(char *out, size_t room, const char *cpu, const char *pmu, bool kernel,
		    struct tare_error *err);

/* The existing tables of this machine's core PMUs: their names, stored in `room`. Returns how
 * many, at most `most`. */
enum { SCAN_TABLES_MOST = 8 };
size_t scan_tables(struct machine *m, const char **out, char room[SCAN_TABLES_MOST][4096],
		   size_t most);

#endif
