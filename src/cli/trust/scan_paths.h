/* SPDX-License-Identifier: MIT */
/* Where a user's scans are kept. */
#ifndef CLI_TRUST_SCAN_PATHS_H
#define CLI_TRUST_SCAN_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include "pmu/pmu.h"

/* Of a CPU and a core PMU: what was counted so far, below $XDG_STATE_HOME or ~/.local/state; with the kernel's part in another file. */
int scan_state_path(char *out, size_t room, const char *cpu, const char *pmu, bool kernel, struct tare_error *err);
/* And the table of what was found, below $XDG_DATA_HOME or ~/.local/share, which `tare events` reads; the same. */
int scan_table_path(char *out, size_t room, const char *cpu, const char *pmu, bool kernel, struct tare_error *err);

/* Those tables that are there, of this machine's core PMUs: their names, kept in `room`. Returns how many, `most` at most. */
enum { SCAN_TABLES_MOST = 8 };
size_t scan_tables(struct machine *m, const char **out, char room[SCAN_TABLES_MOST][4096], size_t most);

#endif
