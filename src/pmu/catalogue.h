/* SPDX-License-Identifier: MIT */
/* Every event whose name is known here, one at a time; and an encoding spelled the way perf would.
 */
#ifndef PMU_CATALOGUE_H
#define PMU_CATALOGUE_H

#include "base/text.h"
#include "pmu/fit.h"
#include "pmu/pmu.h"

struct known_event {
	const char *group; /* "software", "hardware", "cpu", "uncore_imc", "sched", "libpfm4 skl", a
			      file's path */
	const char *name;  /* as -e takes it */
	const char *about; /* "" where nothing is said */
	const char *terms; /* perf's terms, "" where there are none */
	const char *pmu;   /* of a row of a file: its PMU, "" for the core's; NULL elsewhere */
	bool available;    /* as far as sysfs says, without opening it */
};

struct catalogue_options {
	const char *const *event_files; /* NULL-terminated, or NULL */
	const char *cpu;  /* the names of this CPU model's table instead of the machine's own */
	void (*refused)(void *arg, const char *why); /* each row of the files that was not read; or NULL */
	bool tracepoints; /* they are thousands, and only root may see them */
};

/*
 * Visit events in order of group; stops when `visit` returns non-zero, and returns that; else 0 or
 * -errno. PMUs that count alike (uncore_imc_0, uncore_imc_1 ...) are visited once, without their
 * number. Strings live until visit returns. A PMU whose files make no sense is passed over.
 */
int catalogue_walk(struct machine *m, const struct catalogue_options *opt,
		   int (*visit)(void *arg, const struct known_event *ev), void *arg,
		   struct tare_error *err);

/* The terms in which perf would write the encoding: "event=0xd1,umask=0x8"; "config=..." where no
 * format holds the bits, "" for what is no PMU's. `cpu`: the formats of that model instead of
 * sysfs; or NULL. */
void encoding_spell(struct machine *m, const struct encoding *enc, const char *cpu,
		    struct text *out);

#endif
