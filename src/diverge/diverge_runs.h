/* SPDX-License-Identifier: MIT */
/* The runs that diverge.c compares, with their recorded data. No decisions are made here. */
#ifndef DIVERGE_DIVERGE_RUNS_H
#define DIVERGE_DIVERGE_RUNS_H

#include "base/set.h"
#include "diverge/diverge.h"

enum {
	DIVERGE_CLOSE = 1 << 16,  /* an interval small enough to record every instruction */
	DIVERGE_BEFORE = 1 << 18, /* instructions recorded before the place to find its cause */
	DIVERGE_BEHIND = 8,
	DIVERGE_STEPS_MOST = DIVERGE_BEFORE + DIVERGE_CLOSE + DIVERGE_BEHIND + 8,
};

/* One checkpoint: how much the thread had executed, and when. */
struct mark {
	uint64_t hash, time_ns;
	int64_t count; /* instructions */
};

/* Of one thread. */
struct track {
	uint64_t stable_id;
	uint32_t born;
	struct mark *mark;
	size_t n, room;
	bool ended;
	struct mark end;
};

/* What to record of one run. */
struct pass {
	struct diverge_run *run;
	struct set tracks; /* of struct track, by descent */
	size_t bytes;
	bool steps, stack;
	unsigned peeks; /* places recorded with each step */
	struct history *history;
	uint64_t stable_id; /* the thread whose steps are recorded */
	struct tare_error *err;
};

/* The contents of one place at sampled points of one run. */
struct history {
	uint64_t mask;
	size_t n;
	bool any; /* it changed */
	uint64_t first, last;
	struct diverge_step before, behind, now; /* around the last change */
};

typedef bool parted_fn(const struct pass p[2], const struct exact_every *every,
		       struct divergence *d);

/* One run, recorded by `p` into p->run; the nth of its pair. Call diverge_tracks_free() after
 * use, also after an error. */
int diverge_run_one(struct diverge_plan *plan, struct divergence *d, struct pass *p,
		    const struct exact_every *every, unsigned nth);
/* Run number i of a pair, recorded by p[i] into d->run[i]. */
int diverge_run_of_pair(struct diverge_plan *plan, struct divergence *d, struct pass p[2],
			unsigned i, const struct exact_every *every, struct tare_error *err);
/* One run, and up to `tries` others compared with it, until one diverges. 1: one diverged; 0:
 * none did. Frees the tracks. */
int diverge_run_until(struct diverge_plan *plan, struct divergence *d, struct pass p[2],
		      const struct exact_every *every, unsigned tries, parted_fn *parted,
		      struct tare_error *err);
/*
 * For a run with checkpoints at system calls: how many other threads of its process lived while
 * d's thread was between low and high (`there`), or at any time up to that. The interval is only
 * as precise as the nearest system calls around it.
 */
unsigned diverge_beside(const struct pass *p, const struct divergence *d, bool there);
/* Whether it is the same place as before, or an earlier one of the thread that comes first. If
 * other threads diverge that early, few runs get as far as the first pair did. */
bool diverge_as_early(const struct divergence *d, const struct divergence *before);
/* The track of a thread; an empty one if it has no samples. Valid until the next sample. */
const struct track *diverge_track(const struct pass *p, uint64_t stable_id);
void diverge_tracks_free(struct pass *p);

#endif
