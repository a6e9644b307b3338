/* SPDX-License-Identifier: MIT */
/*
 * Where to count: converts the user's choice of command, processes, threads, CPUs, control groups
 * to places.
 */
#ifndef LAUNCH_COUNT_TARGET_H
#define LAUNCH_COUNT_TARGET_H

#include <stdbool.h>
#include "base/cpus.h"
#include "pmu/pmu.h"
#include "launch/fact.h"

struct count_target {
	const char *pids, *tids; /* "12,13", or NULL */
	bool all_cpus;           /* -a, or implied by a list of CPUs alone */
	struct cpus cpus;        /* -C; empty: all online CPUs */
	bool inherit;            /* count children and new threads too */
};

struct place {
	pid_t pid; /* as in struct target: -1 every task */
	int cpu;
	struct fact_place shown;
	char comm[16];
};

struct places {
	struct place *place;
	size_t n;
};

/*
 * Threads of the processes in a list, or the threads themselves. The error names the one that does
 * not exist.
 */
int places_of_tasks(const char *root, const char *list, bool whole_process, struct places *out,
		    struct tare_error *err);
/* The online CPUs of the machine at `root`. */
int cpus_online(const char *root, struct cpus *out, struct tare_error *err);
/*
 * Places for one encoding: tasks (empty: system-wide) on any CPU or on each of `cpus`; an uncore
 * event on one CPU per unit. `online` may be empty only if nothing needs a CPU list.
 */
int places_for(const struct encoding *enc, const struct places *tasks,
	       const struct count_target *where, const struct cpus *online, struct places *out,
	       struct tare_error *err);
/* Does any of the encodings need the list of online CPUs? */
bool count_target_needs_cpus(const struct count_target *where, const struct encoding *enc);
void places_free(struct places *p);

#endif
