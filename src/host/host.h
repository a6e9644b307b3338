/* SPDX-License-Identifier: MIT */
/*
 * What this machine, kernel and user allow: the knobs in sysfs and procfs, and the results of
 * attempts to count. Facts only; src/doctor/doctor.h evaluates them.
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include "arch/cpu.h"
#include "base/error.h"

/* A number that could not be read. */
#define HOST_UNKNOWN LONG_MIN

enum { HOST_PMUS_MAX = 8 };

enum outcome {
	OUTCOME_UNTRIED = 0,
	OUTCOME_REFUSED, /* by the kernel: see `code` */
	OUTCOME_OFF,     /* opened, but never got onto the PMU */
	OUTCOME_ZERO,    /* opened and ran, but the count of the work is 0 */
	OUTCOME_WRONG,   /* the count is impossible for the work */
	OUTCOME_SHARED,  /* counted part of the time: others use counters */
	OUTCOME_COUNTED, /* the count matches the work */
};

/* One event, opened to count work of known size. */
struct attempt {
	enum outcome outcome;
	int code;           /* errno, if refused */
	uint64_t count;     /* the count */
	uint64_t low, high; /* bounds of a correct count */
	uint64_t enabled_ns, running_ns;
};

/* The attempts, once each; ":u" is user mode only. */
enum attempt_id {
	TRY_TASK_CLOCK,   /* task-clock of this thread */
	TRY_FAULTS,       /* page-faults:u of this thread */
	TRY_SWITCHES,     /* context-switches: occur in the kernel, so this needs kernel counting */
	TRY_CPU_WIDE,     /* cpu-clock of every task on one CPU */
	TRY_INSTRUCTIONS, /* instructions:u over a loop of known length */
	TRY_CYCLES,       /* cycles:u over the same, compared with the clock */
	TRY_KERNEL,       /* instructions:k over system calls */
	TRY_USER_READ,    /* instructions:u read without a system call */
	TRY_COUNT,
};

/* The PMU of one type of core; more than one on hybrid machines. */
struct core_pmu {
	char name[48]; /* as in sysfs: "cpu", "cpu_core", "armv8_pmuv3_0" */
	long type;
	char cpus[128]; /* "0-7"; "" for all */
	/* x86: 0 never, 1 for mapped events, 2 always; HOST_UNKNOWN on other architectures */
	long rdpmc;
	struct attempt instructions, cycles; /* on one of its CPUs */
	/*
	 * Pinned events that fit at the same time, and those of another kind that fit in addition.
	 */
	unsigned programmable, fixed;
};

/* A fault that only counting reveals. */
struct fault_try {
	/* NOT: it could not be counted */
	enum { FAULT_TRY_UNTRIED = 0, FAULT_TRY_NOT, FAULT_TRY_GOOD, FAULT_TRY_BAD } outcome;
	char words[160]; /* the observation, or why there is none */
};

struct host {
	bool live; /* this machine, with attempts; false: a tree under another root, only read */

	/* The user. */
	long uid, gid;         /* effective */
	uint64_t capabilities; /* effective; bit numbers of linux/capability.h */
	bool capabilities_known;
	bool user_namespace; /* not the initial one: capabilities have no effect on perf events */
	long seccomp;        /* 0 none, 1 strict, 2 filter */
	char container[24];  /* "docker", "podman", "kubernetes", ...; "" if none was detected */
	char container_mark[64]; /* how it was detected */

	/* The kernel and its knobs; HOST_UNKNOWN if absent. */
	char program[128];    /* this program's file; "" unless live */
	char kernel[96];      /* release */
	bool knobs_read_only; /* /proc/sys is not writable here, even for root */
	long paranoid, user_access, nmi_watchdog, mlock_kb, sample_rate, cpu_time_percent,
		kptr_restrict;
	bool symbols_hidden; /* addresses in /proc/kallsyms read as zero for this user */
	bool symbols_known;
	bool tracefs_mounted, tracepoints_readable;

	/* The machine. */
	struct cpu_description cpu;
	/* from DMI or the device tree: "QEMU Standard PC", "linux,dummy-virt"; "" if unknown */
	char platform[96];
	long smt_active;
	long cpus_online;
	struct core_pmu pmu[HOST_PMUS_MAX];
	unsigned pmus;

	/* The environment of a measurement; "", HOST_UNKNOWN and negative values: unknown. */
	char cpu_id[48]; /* from machine_cpu() */
	char microcode[24];
	char store_bypass[96]; /* the kernel's mitigation of speculative store bypass */
	char nohz_full[64];    /* CPUs without clock ticks */
	char governor[32];     /* for CPU 0's frequency */
	bool governors_differ;
	bool tsx; /* transactional memory */
	long hz, turbo, freeze_on_smi;
	double steal_share; /* share of all CPUs' time since boot */
	/* share of time in which the other thread of this core was busy during the attempts */
	double sibling_busy;
	bool smi_known;
	unsigned long smi_meanwhile; /* number of SMIs during the attempts */
	struct {
		struct fault_try speclockmap, pmi_leak, txcp;
	} fault_tries;

	struct attempt tries[TRY_COUNT]; /* all untried unless live */

	/* The exact engine, which needs no PMU: does this build have it, and does it work here? */
	bool exact_built, exact_works;
	char exact_why[256]; /* why not */
};

/*
 * Read the data under `root` (NULL or "": this machine, with attempts to count). Missing files are
 * facts, not errors; -ENOENT only if neither /proc nor /sys exists.
 */
int host_gather(struct host *h, const char *root, struct tare_error *err);

/* Only the part that needs reading a few files: for remarks on counts. */
int host_look(struct host *h, const char *root, struct tare_error *err);

/* Try to count, as this user, on this machine: takes under 100 ms. Called by host_gather. */
void host_probe(struct host *h);

#endif
