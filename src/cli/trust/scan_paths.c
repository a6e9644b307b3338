/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/trust/scan_paths.h"
#include "pmu/machine.h"
#include "pmu/vendor.h"

static int path_of(char *out, size_t room, const char *variable, const char *below_home,
		   const char *end, const char *cpu, const char *pmu, struct tare_error *err)
{
	const char *base = getenv(variable), *home = getenv("HOME");
	char folder[2048], name[160];
	int n;

	if (base && base[0] == '/')
		n = snprintf(folder, sizeof(folder), "%s", base);
	else if (home && home[0])
		n = snprintf(folder, sizeof(folder), "%s/%s", home, below_home);
	else
		return tare_fail(err, ENOENT, "neither %s nor HOME is set", variable);
	snprintf(name, sizeof(name), "%s-%s", cpu[0] ? cpu : "cpu", pmu);
	for (char *p = name; *p; p++)
		*p = isalnum((unsigned char)*p) || strchr("-_", *p) ? *p : '_';
	if (n >= (int)sizeof(folder) ||
	    snprintf(out, room, "%s/tare/scan/%s%s", folder, name, end) >= (int)room)
		return tare_fail(err, ENAMETOOLONG, "%.100s...: the name is too long", folder);
	return 0;
}

int scan_state_path(char *out, size_t room, const char *cpu, const char *pmu, bool kernel,
		    struct tare_error *err)
{
	return path_of(out, room, "XDG_STATE_HOME", ".local/state",
		       kernel ? "-kernel.state" : ".state", cpu, pmu, err);
}

int scan_table_path(char *out, size_t room, const char *cpu, const char *pmu, bool kernel,
		    struct tare_error *err)
{
	return path_of(out, room, "XDG_DATA_HOME", ".local/share", kernel ? "-kernel.txt" : ".txt",
		       cpu, pmu, err);
}

/* A malformed table is reported and skipped: it must not keep tare from listing the others. */
static bool is_table(const char *path)
{
	struct vendor_file file = { 0 };
	struct tare_error err = TARE_ERROR_INIT;

	if (access(path, R_OK) < 0)
		return false;
	if (vendor_file_read(path, &file, &err) < 0) {
		fprintf(stderr, "tare: ignored: %s\n", err.what);
		return false;
	}
	vendor_file_free(&file);
	return true;
}

size_t scan_tables(struct machine *m, const char **out, char room[SCAN_TABLES_MOST][4096],
		   size_t most)
{
	const struct pmu *const *cores;
	size_t n, found = 0;

	if (machine_cores(m, &cores, &n, NULL) < 0)
		return 0;
	for (size_t i = 0; i < 2 * n && found < most && found < SCAN_TABLES_MOST; i++)
		if (scan_table_path(room[found], sizeof(room[found]), machine_cpu(m),
				    cores[i / 2]->name, i % 2, NULL) == 0 &&
		    is_table(room[found])) {
			out[found] = room[found];
			found++;
		}
	return found;
}
