/* SPDX-License-Identifier: MIT */
/*
 * The mappings of each process at any time, queried in any order: hardware with its own buffers
 * (Arm SPE) delivers accesses long after they happened, one CPU's after another's.
 *
 *	mapping_history_map(h, pid, time, MAPPING_HISTORY_MAPPED, &map, err); ... mapping_history_finish(h, err); mapping_history_find(h, ...);
 *
 * A query takes time in the square of the logarithm of a process's mappings, however often they
 * were replaced.
 */
#ifndef SYMBOLS_MAPPING_HISTORY_H
#define SYMBOLS_MAPPING_HISTORY_H

#include "symbols/address_spaces.h"

enum mapping_history_layer {
	MAPPING_HISTORY_MAPPED, /* mappings as recorded */
	/* a whole program or library in memory, when perhaps only its code was recorded */
	MAPPING_HISTORY_IMAGE,
	MAPPING_HISTORY_LAYERS,
};

enum { MAPPING_HISTORY_KERNEL = UINT32_MAX /* pid of mappings for all processes */ };

struct mapping_history;

/*
 * The answer holds for all addresses from low to high at all times from `from` up to, but
 * excluding, `until`.
 */
struct mapping_history_place {
	bool found;
	struct map map; /* if found */
	uint64_t low, high, from, until;
};

struct mapping_history *mapping_history_new(struct tare_error *err);
/*
 * Adds facts in any order; of those with equal times the one added later counts. A time of 0 is
 * before all others.
 */
int mapping_history_map(struct mapping_history *h, uint32_t pid, uint64_t time_ns,
			enum mapping_history_layer layer, const struct map *m,
			struct tare_error *err);
int mapping_history_fork(struct mapping_history *h, uint32_t child, uint32_t parent,
			 uint64_t time_ns, struct tare_error *err);
int mapping_history_exec(struct mapping_history *h, uint32_t pid, uint64_t time_ns,
			 struct tare_error *err);
/* Ends the input; only queries may follow. */
int mapping_history_finish(struct mapping_history *h, struct tare_error *err);
/* time UINT64_MAX: the final state. */
void mapping_history_find(const struct mapping_history *h, uint32_t pid, uint64_t time_ns,
			  enum mapping_history_layer layer, uint64_t address,
			  struct mapping_history_place *out);
void mapping_history_free(struct mapping_history *h);

#endif
