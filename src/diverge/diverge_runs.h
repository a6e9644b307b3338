/* SPDX-License-Identifier: MIT */
/* The runs that diverge.c compares: what is heard of each, kept. Nothing is judged here. */
#ifndef DIVERGE_DIVERGE_RUNS_H
#define DIVERGE_DIVERGE_RUNS_H

#include "base/set.h"
#include "diverge/diverge.h"

enum {
	DIVERGE_CLOSE = 1 << 16,  /* an interval that is looked at instruction by instruction */
	DIVERGE_BEFORE = 1 << 18, /* instructions before the place, looked at one by one for its cause */
	DIVERGE_BEHIND = 8,
	DIVERGE_STEPS_MOST = DIVERGE_BEFORE + DIVERGE_CLOSE + DIVERGE_BEHIND + 8,
};

/* One checkpoint: what the thread had executed, and when. */
struct mark {
	uint64_t hash, time_ns;
	int64_t count; /* instructions */
};

/* Of one thread. */
struct track {
	uint64_t descent;
	uint32_t born;
	struct mark *mark;
	size_t n, room;
	bool ended;
	struct mark end;
};

/* What one run is listened to for. */
struct pass {
	struct diverge_run *run;
	struct set tracks; /* of struct track, by descent */
	size_t bytes;
	bool steps, stack;
	unsigned peeks; /* places whose contents are kept with each step */
	struct history *history;
	uint64_t descent; /* of the thread whose steps are kept */
	struct tare_error *err;
};

/* What one place held, now and then, in one run. */
struct history {
	uint64_t mask;
	size_t n;
	bool any; /* it changed */
	uint64_t first, last;
	struct diverge_step before, behind, now; /* around the last change */
};

typedef bool parted_fn(const struct pass p[2], const struct exact_every *every, struct divergence *d);

/* One run, heard by `p` into p->run; the nth of its pair. diverge_tracks_free() after use, also after an error. */
int diverge_run_one(struct diverge_plan *plan, struct divergence *d, struct pass *p, const struct exact_every *every, unsigned nth);
/* Run number i of a pair, heard by p[i], into d->run[i]. */
int diverge_run_of_pair(struct diverge_plan *plan, struct divergence *d, struct pass p[2], unsigned i, const struct exact_every *every,
			struct tare_error *err);
/* One run, and up to `tries` others beside it, until one of them parts from it: 1; 0: none does. Tracks are freed. */
int diverge_run_until(struct diverge_plan *plan, struct divergence *d, struct pass p[2], const struct exact_every *every, unsigned tries,
		      parted_fn *parted, struct tare_error *err);
/*
 * Of a run in which system calls are the checkpoints: how many other threads of its process lived while d's thread was between low and
 * high (`there`), or at some time up to that. Between, as far as its nearest system calls around that tell.
 */
unsigned diverge_beside(const struct pass *p, const struct divergence *d, bool there);
/* The same place as before, or one of the thread that comes before it: where others part so early, few come as far as the first pair did. */
bool diverge_as_early(const struct divergence *d, const struct divergence *before);
/* The track of a thread; an empty one if it was not heard of. Valid until the next sample. */
const struct track *diverge_track(const struct pass *p, uint64_t descent);
void diverge_tracks_free(struct pass *p);

#endif
