/* SPDX-License-Identifier: MIT */
/*
 * All counters of one run: every group of events, opened in every place it belongs to. They are
 * started, stopped and read together. A reading becomes one fact per event and place.
 */
#ifndef COUNT_COUNTING_H
#define COUNT_COUNTING_H

#include "launch/fact.h"
#include "launch/count_target.h"
#include "source/source.h"

struct cell { /* one group in one place */
	struct counters *open;
	const struct source *source;
	struct place at;
	const char *cgroup;
	size_t first, n; /* its events, in counting.order */
	bool on, on_exec;
};

struct counting {
	/* a copy, in which kernel and hypervisor are excluded if the user may not count them */
	struct encoding *enc;
	size_t n_enc;
	unsigned *order; /* event indices; those of one group are adjacent */
	struct cell *cell;
	size_t n;
	bool any_open;
	enum parts parts;
	bool partial;
};

struct counting_options {
	const struct count_target *target;
	const struct places *tasks; /* empty: system-wide */
	const struct cpus *online;
	const char *const *cgroup; /* per event: a name or NULL; NULL: no event has one */
	const int *cgroup_fd;      /* per event */
	const bool *only;          /* per event: NULL: all */
	bool on_exec;              /* those that follow a task start at its next exec */
	void *launched;            /* of the launcher, for its own source */
	const char *sheds; /* why the command sheds its counters at exec; NULL: it does not */
	enum parts parts;  /* read parts of the command too, where the source can */
	bool partial; /* take readings that are without some processes; else they are unavailable */
	const struct source *source; /* in place of each event's own (tests); NULL: none */
};

/*
 * Open all events that can be opened. Another event becomes unavailable in c->enc (with why and
 * remedy), together with its group; other events still count. Fails only if nothing could be opened
 * because the target is gone, or if out of memory. Events of the "clock" source belong to the
 * session and are not opened.
 */
int counting_open(struct counting *c, const struct encoding_list *events,
		  const struct counting_options *opt, struct tare_error *err);
/*
 * `event`: only the cells with that event; -1: all. The kernel starts the cells that begin at exec.
 */
int counting_start(struct counting *c, int event, struct tare_error *err);
int counting_stop(struct counting *c, int event, struct tare_error *err);
/*
 * Produces one FACT_READING per open event and place, and per part of it if requested; no closing
 * fact.
 */
int counting_read(struct counting *c, unsigned run, uint64_t time_ns, struct sink *to,
		  struct tare_error *err);
void counting_close(struct counting *c);

#endif
