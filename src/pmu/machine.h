/* SPDX-License-Identifier: MIT */
/* A machine as described by sysfs and procfs, read on demand. Hostile values are refused. */
#ifndef PMU_MACHINE_H
#define PMU_MACHINE_H

#include "pmu/format.h"
#include "pmu/pmu.h"

#define PMU_DEVICES "/sys/bus/event_source/devices"

struct pmu {
	char name[64];
	uint32_t type;
	bool core; /* counts on a CPU's cores: "cpu", or has a `cpus` file */
	enum pmu_place place;
	struct cpus cpus; /* empty: any */
};

/* The PMU of that name; -ENOENT if there is none. Owned by the machine. */
int machine_pmu(struct machine *m, const char *name, const struct pmu **out,
		struct tare_error *err);

/* The core PMUs, by name; none on a virtual machine without one. Owned by the machine. */
int machine_cores(struct machine *m, const struct pmu *const **out, size_t *n,
		  struct tare_error *err);

/* The names of all PMUs, sorted. Owned by the machine. */
int machine_devices(struct machine *m, const char *const **out, size_t *n, struct tare_error *err);

/* The bits of a format term; -ENOENT if the PMU has no term of that name. */
int machine_format(struct machine *m, const struct pmu *pmu, const char *name, struct format *out,
		   struct tare_error *err);

/*
 * The terms of an event of the PMU, such as "event=0x3c"; -ENOENT if it has no event of that name.
 */
int machine_event(struct machine *m, const struct pmu *pmu, const char *name, char *buf,
		  size_t room, struct tare_error *err);

/* Its scale, unit, and whether it is a level; defaults (1, "", false) if sysfs has none. */
int machine_event_unit(struct machine *m, const struct pmu *pmu, const char *name, double *scale,
		       char unit[16], bool *snapshot, struct tare_error *err);

/* Names of the PMU's files under `folder` ("events", "format"), sorted; none if the folder is
 * missing. The caller frees with names_free. */
int machine_names(struct machine *m, const struct pmu *pmu, const char *folder, char ***out,
		  size_t *n, struct tare_error *err);
void names_free(char **names, size_t n);

/* The id of a tracepoint. -ENOENT: unknown name; -EACCES: this user may not read tracefs. */
int machine_tracepoint(struct machine *m, const char *system, const char *name, uint64_t *id,
		       struct tare_error *err);
/*
 * Is the tracepoint a uprobe, which fires in user mode? False also if this user may not read that.
 */
bool machine_is_uprobe(struct machine *m, const char *system, const char *name);
/* Systems (system NULL) or the tracepoints of one, sorted. */
int machine_tracepoints(struct machine *m, const char *system, char ***out, size_t *n,
			struct tare_error *err);

/* A small number in a file, such as caps/max_precise; `fallback` if there is no such file. */
int machine_number(struct machine *m, const char *path, uint64_t fallback, uint64_t *out,
		   struct tare_error *err);

/*
 * In perf's format: "GenuineIntel-6-55-4", "AuthenticAMD-25-11-1", "0x00000000410fd0c0". "" if
 * unknown.
 */
const char *machine_cpu(struct machine *m);

#endif
