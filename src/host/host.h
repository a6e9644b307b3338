/* SPDX-License-Identifier: MIT */
/*
 * What this machine, kernel and user allow: the knobs as sysfs and procfs show them, and what
 * became of really trying to count. Facts only; src/doctor/doctor.h judges them.
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
	OUTCOME_REFUSED, /* by the kernel: `code` says why */
	OUTCOME_OFF,     /* opened, but never got onto the PMU */
	OUTCOME_ZERO,    /* opened and ran, and counted nothing of work that was done */
	OUTCOME_WRONG,   /* counted something that the work cannot have been */
	OUTCOME_SHARED,  /* counted part of the time: others hold counters */
	OUTCOME_COUNTED, /* counted what the work was */
};

/* One event, opened and set to count work of known size. */
struct attempt {
	enum outcome outcome;
	int code;           /* errno, when refused */
	uint64_t count;     /* what was counted */
	uint64_t low, high; /* what a right count lies between */
	uint64_t enabled_ns, running_ns;
};

/* What was tried, each once; ":u" is user mode only. */
enum attempt_id {
	TRY_TASK_CLOCK,   /* task-clock of this thread */
	TRY_FAULTS,       /* page-faults:u of this thread */
	TRY_SWITCHES,     /* context-switches: happens in the kernel, so it needs kernel counting */
	TRY_CPU_WIDE,     /* cpu-clock of every task on one CPU */
	TRY_INSTRUCTIONS, /* instructions:u over a loop of known length */
	TRY_CYCLES,       /* cycles:u over the same, against the clock */
	TRY_KERNEL,       /* instructions:k over system calls */
	TRY_USER_READ,    /* instructions:u read without a system call */
	TRY_COUNT,
};

/* The PMU of a kind of core; more than one on hybrid machines. */
struct core_pmu {
	char name[48]; /* as in sysfs: "cpu", "cpu_core", "armv8_pmuv3_0" */
	long type;
	char cpus[128]; /* "0-7"; "" for all */
	long rdpmc;     /* x86: 0 never, 1 for mapped events, 2 always; HOST_UNKNOWN elsewhere */
	struct attempt instructions, cycles; /* on one of its CPUs */
	/* Pinned events that fit at once, and those of another kind that still fit beside them. */
	unsigned programmable, fixed;
};

/* Something that only counting shows. */
struct fault_try {
	enum { FAULT_TRY_UNTRIED = 0, FAULT_TRY_NOT, FAULT_TRY_GOOD, FAULT_TRY_BAD } outcome; /* NOT: it could not be counted */
	char words[160]; /* what was counted, or why not */
};

struct host {
	bool live; /* this machine, tried; false: a tree under another root, read only */

	/* who asks */
	long uid, gid; /* effective */
	uint64_t capabilities; /* effective; bit numbers of linux/capability.h */
	bool capabilities_known;
	bool user_namespace; /* not the initial one: capabilities count for nothing with perf events
			      */
	long seccomp;        /* 0 none, 1 strict, 2 filter */
	char container[24];  /* "docker", "podman", "kubernetes", ...; "" if none was noticed */
	char container_mark[64]; /* what gave it away */

	/* the kernel and its knobs; HOST_UNKNOWN where absent */
	char program[128];    /* this program's file; "" unless live */
	char kernel[96];      /* release */
	bool knobs_read_only; /* /proc/sys cannot be written from here, not even by root */
	long paranoid, user_access, nmi_watchdog, mlock_kb, sample_rate, cpu_time_percent,
	    kptr_restrict;
	bool symbols_hidden; /* addresses in /proc/kallsyms read as zero for this user */
	bool symbols_known;
	bool tracefs_mounted, tracepoints_readable;

	/* the machine */
	struct cpu_description cpu;
	char platform[96]; /* from DMI or the device tree: "QEMU Standard PC", "linux,dummy-virt";
			      "" if unknown */
	long smt_active;
	long cpus_online;
	struct core_pmu pmu[HOST_PMUS_MAX];
	unsigned pmus;

	/* what surrounds a measurement; "" and HOST_UNKNOWN and below 0: not told */
	char cpu_id[48];	/* as machine_cpu() */
	char microcode[24];
	char store_bypass[96];	/* how the kernel keeps speculative stores in check */
	char nohz_full[64];	/* CPUs without clock ticks */
	char governor[32];	/* of CPU 0's frequency */
	bool governors_differ;
	bool tsx;		/* transactional memory */
	long hz, turbo, freeze_on_smi;
	double steal_share;	/* of all CPUs' time since the start */
	double sibling_busy;	/* share of the time of the other thread of this core, while the rest was tried */
	bool smi_known;
	unsigned long smi_meanwhile; /* SMIs while the rest was tried */
	struct {
		struct fault_try speclockmap, pmi_leak, txcp;
	} fault_tries;

	struct attempt tries[TRY_COUNT]; /* all untried unless live */

	/* The exact engine, which needs no PMU: whether this build has it and it says that it works
	 * here. */
	bool exact_built, exact_works;
	char exact_why[256]; /* why not */
};

/*
 * Read what there is under `root` (NULL or "": this machine, and then try too). Missing files are
 * facts, not errors; -ENOENT only where neither /proc nor /sys is there.
 */
int host_gather(struct host *h, const char *root, struct tare_error *err);

/* What is only read, and needs no more than some files: for remarks beside counts. */
int host_look(struct host *h, const char *root, struct tare_error *err);

/* Try to count, as this user, on this machine: under 100 ms. Called by host_gather. */
void host_probe(struct host *h);

#endif
