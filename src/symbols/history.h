/* SPDX-License-Identifier: MIT */
/*
 * The mappings of each process at any time, queried in any order: hardware with its own buffers
 * (Arm SPE) delivers accesses long after they happened, one CPU's after another's.
 *
 *	history_map(h, pid, time, HISTORY_MAPPED, &map, err); ... history_finish(h, err); history_find(h, ...);
 *
 * A query takes time in the square of the logarithm of a process's mappings, however often they
 * were replaced.
 */
#ifndef SYMBOLS_HISTORY_H
#define SYMBOLS_HISTORY_H

#include "symbols/spaces.h"

enum history_layer {
	HISTORY_MAPPED, /* mappings as recorded */
	/* a whole program or library in memory, when perhaps only its code was recorded */
	HISTORY_IMAGE,
	HISTORY_LAYERS,
};

enum { HISTORY_KERNEL = UINT32_MAX /* pid of mappings for all processes */ };

struct history;

/*
 * The answer holds for all addresses from low to high at all times from `from` up to, but
 * excluding, `until`.
 */
struct history_place {
	bool found;
	struct map map; /* if found */
	uint64_t low, high, from, until;
};

struct history *history_new(struct tare_error *err);
/*
 * Adds facts in any order; of those with equal times the one added later counts. A time of 0 is
 * before all others.
 */
int history_map(struct history *h, uint32_t pid, uint64_t time_ns, enum history_layer layer,
		const struct map *m, struct tare_error *err);
int history_fork(struct history *h, uint32_t child, uint32_t parent, uint64_t time_ns,
		 struct tare_error *err);
int history_exec(struct history *h, uint32_t pid, uint64_t time_ns, struct tare_error *err);
/* Ends the input; only queries may follow. */
int history_finish(struct history *h, struct tare_error *err);
/* time UINT64_MAX: the final state. */
void history_find(const struct history *h, uint32_t pid, uint64_t time_ns, enum history_layer layer,
		  uint64_t address, struct history_place *out);
void history_free(struct history *h);

#endif
