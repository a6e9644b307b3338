/* SPDX-License-Identifier: MIT */
/*
 * Event + machine -> encoding. A machine is described by sysfs and procfs, under a root that tests
 * (and --sysfs-root) may change. Reads only what an event needs, so that start-up time does not
 * grow with the number of PMUs or CPUs.
 */
#ifndef PMU_PMU_H
#define PMU_PMU_H

#include <linux/perf_event.h>
#include "base/cpus.h"
#include "event/event.h"
#include "pmu/source.h"

struct machine;

/* `root` is a prefix of /sys and /proc; NULL for this machine. Owned by the caller. */
struct machine *machine_open(const char *root, struct tare_error *err);
void machine_close(struct machine *m);
/* As given to machine_open; "" for this machine. */
const char *machine_root(const struct machine *m);

/* attr.config of encodings of source_clock; all in ns. */
enum clock_event { CLOCK_WALL = 1, CLOCK_USER, CLOCK_SYSTEM };

enum pmu_place {
	PLACE_TASK, /* software, breakpoint, the only core PMU: any CPU, follows a task */
	/* one of several core PMUs of a hybrid machine: follows a task, on `cpus` only */
	PLACE_CORE,
	PLACE_UNCORE, /* per socket or die: opened per CPU of `cpus`, never per task */
};

/* One counter to open. */
struct encoding {
	char name[160]; /* as shown: the user's words, "cpu_core/instructions/" on hybrids */
	char pmu[64];   /* sysfs name; "" for generic events on the one core PMU */
	const struct source *source; /* what counts it; NULL: source_perf */
	struct perf_event_attr
		attr; /* type, config*, bp_*, exclude_*, precise_ip, pinned, exclusive, period */
	enum pmu_place place;
	struct cpus cpus; /* empty: any */
	size_t event;     /* index in the event_list it came from */
	unsigned group;   /* 0..groups-1; a group on several PMUs became one group per PMU */
	bool weak;        /* the group may be split if it does not fit (:W) */
	bool sample_read; /* :S */
	bool host_only;   /* :H; exclude_guest without :H is also perf's default */
	double scale;     /* 1.0 if none */
	/* a tracepoint with user-mode registers: of a system call, or a uprobe */
	bool in_user;
	bool snapshot;     /* a level, not a count: shown as read, never as a difference */
	uint64_t counters; /* legal counters: bits 0-31 programmable, 32-63 fixed; 0: unknown */
	char unit[16];     /* "" if none */
	int unavailable;   /* errno; 0 when it can be opened. Only with
			      encode_options.keep_unavailable */
	char why[256], remedy[200]; /* set with `unavailable` */
	/* unavailable, and its PMU's formats are absent: attr.type and config are meaningless */
	bool unencoded;
	char asked[200]; /* unencoded: the terms by name, from a file; "" if there are none */
};

static inline const struct source *encoding_source(const struct encoding *e)
{
	return e->source ? e->source : &source_perf;
}

struct encoding_list {
	struct encoding *enc;
	size_t n;
	unsigned groups;
};

struct encode_options {
	/* keep an event this machine lacks, marked, rather than fail (default sets) */
	bool keep_unavailable;
	const char *const
		*event_files; /* vendor JSON files given by the user; NULL-terminated or NULL */
	const char *cpu; /* encode for this CPU model instead of the running one (explain); NULL:
			     this one */
};

/*
 * Encode every event of the list, in order; hybrid and uncore events become several. Errors name
 * the event, with its offset in err->at, and the nearest existing names. No side effects, but reads
 * sysfs.
 */
int pmu_encode(struct machine *m, const struct event_list *events, const struct encode_options *opt,
	       struct encoding_list *out, struct tare_error *err);
void encoding_list_free(struct encoding_list *list);

/*
 * How the kernel applies exclude_user, exclude_kernel and similar bits. For software events it
 * compares the mode in which they occurred; for clocks only when sampling. Source: linux
 * kernel/events/core.c, perf_exclude_event(), perf_swevent_hrtimer() and perf_tp_event_match(),
 * which checks only exclude_kernel.
 */
enum encoding_modes {
	MODES_OF_PMU,    /* a PMU, which refuses modes that it cannot exclude */
	MODES_TOLD,      /* page faults, breakpoints: the modes are distinguished */
	MODES_IN_KERNEL, /* context switches, most tracepoints: 0 if the kernel is excluded */
	/* tracepoints of system calls, uprobes: the same number if user mode is excluded */
	MODES_IN_USER,
	/* task-clock and cpu-clock: a count always includes all modes; samples are distinguished */
	MODES_CLOCK,
	MODES_NO_COUNT, /* bpf-output: it has samples, its count stays 0 */
};
enum encoding_modes encoding_modes(const struct encoding *e);

/* Restrict to user mode, or to the kernel; also changes the modifiers in its name. */
void encoding_restrict(struct encoding *e, bool user);

#endif
