/* SPDX-License-Identifier: MIT */
/* Where to count: the user's choice of command, processes, threads, CPUs, control groups, as
 * places. */
#ifndef LAUNCH_WHERE_H
#define LAUNCH_WHERE_H

#include <stdbool.h>
#include "base/cpus.h"
#include "pmu/pmu.h"
#include "launch/fact.h"

struct where {
	const char *pids, *tids; /* "12,13", or NULL */
	bool all_cpus;           /* -a, or implied by a list of CPUs without anything else */
	struct cpus cpus;        /* -C; empty: all that are online */
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

/* Threads of the processes, or the threads themselves, of a list. The error names the one that is
 * gone. */
int places_of_tasks(const char *root, const char *list, bool whole_process, struct places *out,
		    struct tare_error *err);
/* The CPUs that are online, under the machine's root. */
int cpus_online(const char *root, struct cpus *out, struct tare_error *err);
/*
 * Places for one encoding: tasks (empty: system-wide) on any CPU or on each of `cpus`; an uncore
 * event on the CPUs that stand for its units. `online` may be empty only if nothing needs a CPU
 * list.
 */
int places_for(const struct encoding *enc, const struct places *tasks, const struct where *where,
	       const struct cpus *online, struct places *out, struct tare_error *err);
/* Whether any of the encodings needs the list of CPUs that are online. */
bool where_needs_cpus(const struct where *where, const struct encoding *enc);
void places_free(struct places *p);

#endif
