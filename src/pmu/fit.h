/* SPDX-License-Identifier: MIT */
/*
 * Which events fit on a core's counters at the same time. fit_* have no side effects;
 * counter_facts_of reads the machine's properties.
 */
#ifndef PMU_FIT_H
#define PMU_FIT_H

#include "pmu/pmu.h"

enum counter_kind { COUNTERS_INTEL, COUNTERS_AMD, COUNTERS_ARM };

struct counter_facts {
	enum counter_kind kind;
	unsigned programmable;
	unsigned fixed;   /* Intel: instructions, cycles, reference cycles, slots; Arm: cycles */
	bool watchdog;    /* the kernel's hard-lockup watchdog uses a cycles counter */
	char cpu[64];     /* "Intel Skylake server" */
	char bound[8];    /* its table of data/constraints.txt; "" if it has none */
	const char *from; /* source of the numbers, for messages */
};

/*
 * Properties of one core PMU ("" or its sysfs name): from CPUID on this machine if it is x86;
 * otherwise, and under another root, from data/cpus.txt. -ENODATA if neither has them, with the
 * reason in `err`.
 */
int counter_facts_of(struct machine *m, const char *pmu, struct counter_facts *out,
		     struct tare_error *err);

/* The same for a CPU model that may be absent, with SMT on and without the watchdog. */
int counter_facts_of_model(const char *model, struct counter_facts *out, struct tare_error *err);

/*
 * Counters that may count it: bits 0-31 programmable, 32-63 fixed. 0: it needs none (software,
 * uncore, ...).
 */
uint64_t fit_counters(const struct counter_facts *facts, const struct encoding *enc);

/* Properties of the counters that may count an event. */
struct fit_legal {
	uint64_t counters; /* as above; unless `sure`, a superset */
	bool sure;
	char depends[96]; /* not sure: what it depends on, "" if unknown */
};
void fit_legal(const struct counter_facts *facts, const struct encoding *enc,
	       struct fit_legal *out);

/*
 * constraints.c: the same for a config of the core PMU, from data/constraints.txt; false: no row.
 */
bool constraint_find(const struct counter_facts *facts, uint64_t config, struct fit_legal *out);
/* The config of a generic cache event; 0: any counter works. false: unknown. */
bool constraint_cache(const struct counter_facts *facts, uint64_t event, uint64_t *config);

/* Is it counted by the core PMU `pmu` ("": the only one)? */
bool fit_concerns(const char *pmu, const struct encoding *enc);

/*
 * Index of the first encoding that cannot count at the same time as all before it; n if all fit.
 * Encodings of other PMUs than `pmu` (as in encoding.pmu; "" is the only core PMU) and those that
 * need no core counter always fit. Finds a perfect assignment of events to counters, like the
 * kernel's scheduler for a group.
 */
size_t fit_check(const struct counter_facts *facts, const char *pmu,
		 const struct encoding *const *enc, size_t n);

/*
 * The first encoding with uncertain legal counters, so that the result of fit_check() is uncertain;
 * n if none.
 */
size_t fit_unsure(const struct counter_facts *facts, const char *pmu,
		  const struct encoding *const *enc, size_t n, struct fit_legal *why);

/*
 * The same over all core PMUs of the machine. Returns 1 if all fit, 0 if enc[*blocker] does not,
 * -ENODATA if the machine's counters are unknown.
 */
int fit_on(struct machine *m, const struct encoding *const *enc, size_t n, size_t *blocker,
	   struct tare_error *err);

/* One line of data/cpus.txt. */
struct cpu_row {
	char cpu[48], pmu[32], libpfm[32], bound[8], name[64];
	unsigned programmable, programmable_alone, fixed; /* `alone`: with SMT off */
};

/* The row for a CPU named by machine_cpu, and a PMU name (NULL: any). false if none. */
bool cpu_row_find(const char *cpu, const char *pmu, struct cpu_row *out);
/*
 * The first row with the libpfm name `model`, or with `model` as its name or a part of it, ignoring
 * case; or the same by id.
 */
bool cpu_row_by_model(const char *model, struct cpu_row *out);
/* Every row, in order: 0, 1, ... until false. */
bool cpu_row_nth(size_t i, struct cpu_row *out);

#endif
