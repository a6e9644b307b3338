/* SPDX-License-Identifier: MIT */
/* Lists all events with known names, and formats an encoding in perf's syntax. */
#ifndef PMU_CATALOGUE_H
#define PMU_CATALOGUE_H

#include "base/text.h"
#include "pmu/fit.h"
#include "pmu/pmu.h"

struct known_event {
	const char *group; /* "software", "hardware", "cpu", "uncore_imc", "sched", "libpfm4 skl", a
			      file's path */
	const char *name;  /* as accepted by -e */
	const char *about; /* "" if there is no description */
	const char *terms; /* in perf's syntax, "" if there are none */
	const char *pmu;   /* for a row of a file: its PMU, "" for the core's; otherwise NULL */
	bool available;    /* according to sysfs, without opening it */
};

struct catalogue_options {
	const char *const *event_files; /* NULL-terminated, or NULL */
	const char *cpu; /* use the names of this CPU model's table instead of the machine's own */
	/* called for each row of the files that was not read; or NULL */
	void (*refused)(void *arg, const char *why);
	bool tracepoints; /* there are thousands, and only root may read them */
};

/*
 * Visit events in order of group; stops when `visit` returns non-zero, and returns that; else 0 or
 * -errno. Identical PMUs (uncore_imc_0, uncore_imc_1 ...) are visited once, without their number.
 * Strings are valid until visit returns. A PMU with invalid files is skipped.
 */
int catalogue_walk(struct machine *m, const struct catalogue_options *opt,
		   int (*visit)(void *arg, const struct known_event *ev), void *arg,
		   struct tare_error *err);

/*
 * The terms of the encoding in perf's syntax: "event=0xd1,umask=0x8"; "config=..." if no format
 * covers the bits, "" if it needs no PMU. `cpu`: the formats of that model instead of sysfs; or
 * NULL.
 */
void encoding_spell(struct machine *m, const struct encoding *enc, const char *cpu,
		    struct text *out);

#endif
