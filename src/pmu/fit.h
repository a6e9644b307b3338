/* SPDX-License-Identifier: MIT */
/* Which events fit on a core's counters at one time. fit_* are pure; counter_facts_of looks the
 * machine up. */
#ifndef PMU_FIT_H
#define PMU_FIT_H

#include "pmu/pmu.h"

enum counter_kind { COUNTERS_INTEL, COUNTERS_AMD, COUNTERS_ARM };

struct counter_facts {
	enum counter_kind kind;
	unsigned programmable;
	unsigned
	    fixed;     /* of Intel: instructions, cycles, reference cycles, slots; of Arm: cycles */
	bool watchdog; /* the kernel's hard-lockup watchdog holds a cycles counter */
	char cpu[64];  /* "Intel Skylake server" */
	char bound[8]; /* its table of data/constraints.txt; "" if it has none */
	const char *from; /* where the numbers come from, for messages */
};

/*
 * Facts of one core PMU ("" or its sysfs name). On this machine CPUID says it on x86; elsewhere,
 * and under another root, data/cpus.txt does. -ENODATA when neither knows: then nothing can be
 * said, and `err` says why.
 */
int counter_facts_of(struct machine *m, const char *pmu, struct counter_facts *out,
		     struct tare_error *err);

/* The same of a CPU model that need not be here, with SMT on and no watchdog. */
int counter_facts_of_model(const char *model, struct counter_facts *out, struct tare_error *err);

/* Counters that may count it: bits 0-31 programmable, 32-63 fixed. 0: it needs none (software,
 * uncore, ...). */
uint64_t fit_counters(const struct counter_facts *facts, const struct encoding *enc);

/* What is known of the counters that may count an event. */
struct fit_legal {
	uint64_t counters; /* as above; unless `sure`, at most these */
	bool sure;
	char depends[96]; /* not sure: on what it depends, "" if that is not known either */
};
void fit_legal(const struct counter_facts *facts, const struct encoding *enc,
	       struct fit_legal *out);

/* constraints.c: the same of a config of the core PMU, by data/constraints.txt; false: no row. */
bool constraint_find(const struct counter_facts *facts, uint64_t config, struct fit_legal *out);
/* The config that stands behind a generic cache event; 0: any counter takes it. false: not known.
 */
bool constraint_cache(const struct counter_facts *facts, uint64_t event, uint64_t *config);

/* Whether it is counted by the core PMU `pmu` ("": the one there is). */
bool fit_concerns(const char *pmu, const struct encoding *enc);

/*
 * Index of the first encoding that cannot count at the same time as all before it; n if all fit.
 * Encodings of other PMUs than `pmu` (as in encoding.pmu; "" takes in the one core PMU) and those
 * that need no core counter always fit. A perfect assignment of events to counters, as the kernel's
 * scheduler finds it for a group.
 */
size_t fit_check(const struct counter_facts *facts, const char *pmu,
		 const struct encoding *const *enc, size_t n);

/* The first whose legal counters are not sure, so that all fit as far as is known only; n if none.
 */
size_t fit_unsure(const struct counter_facts *facts, const char *pmu,
		  const struct encoding *const *enc, size_t n, struct fit_legal *why);

/*
 * The same over all core PMUs of the machine. Returns 1 if all fit, 0 if enc[*blocker] does not,
 * -ENODATA if the machine's counters are not known.
 */
int fit_on(struct machine *m, const struct encoding *const *enc, size_t n, size_t *blocker,
	   struct tare_error *err);

/* One line of data/cpus.txt. */
struct cpu_row {
	char cpu[48], pmu[32], libpfm[32], bound[8], name[64];
	unsigned programmable, programmable_alone, fixed; /* `alone`: with SMT off */
};

/* The row for a CPU as machine_cpu writes it and a PMU name (NULL: any). false if none. */
bool cpu_row_find(const char *cpu, const char *pmu, struct cpu_row *out);
/* The first row whose libpfm name, or whose name in any case (all of it, or a part), is `model`; or
 * the same by id. */
bool cpu_row_by_model(const char *model, struct cpu_row *out);
/* Every row, in order: 0, 1, ... until false. */
bool cpu_row_nth(size_t i, struct cpu_row *out);

#endif
