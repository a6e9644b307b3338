/* SPDX-License-Identifier: MIT */
/*
 * What each process had mapped where at any time, asked in any order: hardware that writes its own buffers (Arm SPE)
 * delivers accesses long after they happened, and those of one CPU after another's.
 *
 *	history_map(h, pid, time, HISTORY_MAPPED, &map, err); ... history_finish(h, err); history_find(h, ...);
 *
 * A question costs the square of the logarithm of a process's mappings, however often it replaced them.
 */
#ifndef SYMBOLS_HISTORY_H
#define SYMBOLS_HISTORY_H

#include "symbols/spaces.h"

enum history_layer {
	HISTORY_MAPPED, /* mappings as recorded */
	HISTORY_IMAGE,	/* the whole of a program or library in memory, of which only the code may have been recorded */
	HISTORY_LAYERS,
};

enum { HISTORY_KERNEL = UINT32_MAX /* as a pid: for all processes */ };

struct history;

/* The answer holds for every address from low to high at every time from `from` up to, not including, `until`. */
struct history_place {
	bool found;
	struct map map; /* where found */
	uint64_t low, high, from, until;
};

struct history *history_new(struct tare_error *err);
/* Facts in any order; of those at one time the later stated counts. A time of 0 is before all others. */
int history_map(struct history *h, uint32_t pid, uint64_t time_ns, enum history_layer layer, const struct map *m,
		struct tare_error *err);
int history_fork(struct history *h, uint32_t child, uint32_t parent, uint64_t time_ns, struct tare_error *err);
int history_exec(struct history *h, uint32_t pid, uint64_t time_ns, struct tare_error *err);
/* After this, questions; nothing may be stated any more. */
int history_finish(struct history *h, struct tare_error *err);
/* time UINT64_MAX: as it was at last. */
void history_find(const struct history *h, uint32_t pid, uint64_t time_ns, enum history_layer layer, uint64_t address,
		  struct history_place *out);
void history_free(struct history *h);

#endif
