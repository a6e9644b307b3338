/* SPDX-License-Identifier: MIT */
/*
 * A source counts: perf_event_open, the exact engine, MSRs, clocks, or a script in tests. It opens
 * one group of encodings on one target, and reads all of them at one instant. Every encoding names
 * its source; what depends on the kind of source asks for a trait of it.
 */
#ifndef PMU_SOURCE_H
#define PMU_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"
#include "tare/reading.h"

struct encoding;

struct target {
	pid_t pid;           /* a thread; 0: the caller; -1: every task (then cpu >= 0) */
	int cpu;             /* -1: any */
	int cgroup_fd;       /* -1: none; else pid is ignored and cpu >= 0 */
	bool inherit;        /* count children and new threads too */
	bool enable_on_exec; /* start at the target's next execve */
	bool user_reads;     /* ask for reads without a system call (pid 0, cpu -1, not inherit) */
	void *launched;      /* what a launcher hands to its own source (exact); NULL otherwise */
};

/* What a command's counts can be divided into. */
enum parts { PARTS_NONE, PARTS_PROCESSES, PARTS_THREADS };

struct part {
	unsigned number; /* in order of start, from 1 */
	uint64_t who;    /* which it is, in each run that goes the same way */
	const char *name;
	bool partial; /* its process is not counted to its end */
};

/* One part, and its n readings as of read. */
typedef int part_fn(void *with, const struct part *p, const struct tare_reading *value);

struct counters; /* one open group; a source's own struct begins with `const struct source *source`
		  */

struct source {
	const char *name; /* "perf", "exact", "msr", "clock" */
	/* Traits: these hold for everything it counts. */
	bool kernel;        /* opened by perf_event_open(2): attr means what the kernel says */
	bool registers;     /* counts whole CPUs by their registers */
	bool clock;         /* the session's own clocks: there is nothing to open */
	bool exact;         /* every count is right by construction */
	bool needs_engine;  /* counts only commands that the exact engine runs */
	bool adds_overhead; /* times and other counts of the same run include its own work */
	int (*probe)(struct tare_error *err); /* 0 when usable here and now */
	/*
	 * Open n encodings of one group, stopped (unless enable_on_exec). On failure says which
	 * event and why; *failed (may be NULL) is its index.
	 * -ENOENT/-EOPNOTSUPP/-EACCES/-EPERM/-EMFILE/-ESRCH keep the kernel's meaning, with a hint
	 * that can be typed.
	 */
	int (*open)(struct counters **out, const struct encoding *const *enc, size_t n,
		    const struct target *on, size_t *failed, struct tare_error *err);
	int (*start)(struct counters *c, struct tare_error *err);
	int (*stop)(struct counters *c, struct tare_error *err);
	/*
	 * n readings in the order of open; see struct tare_reading for quality. Returns 0 also when
	 * a reading is TARE_UNAVAILABLE because its counter never ran: *err then holds the reason
	 * (code ENODATA), and is untouched otherwise. -EIO: a pinned group lost its counters.
	 */
	int (*read)(struct counters *c, struct tare_reading *out, struct tare_error *err);
	/*
	 * NULL: it counts all or nothing. How many processes the last readings are without; they
	 * are exact without those.
	 */
	unsigned (*without)(const struct counters *c);
	/*
	 * NULL: cannot tell parts apart. Calls `each` for every part; stops when that is negative.
	 */
	int (*parts)(struct counters *c, enum parts by, part_fn *each, void *with,
		     struct tare_error *err);
	void (*close)(struct counters *c);
};

extern const struct source source_perf;
extern const struct source source_msr;
extern const struct source source_clock;
extern const struct source source_exact; /* of commands that launch_exact starts */

#endif
