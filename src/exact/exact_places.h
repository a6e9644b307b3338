/* SPDX-License-Identifier: MIT */
/*
 * The exact engine's counts per instruction: the profile's blocks are split by decoding the files
 * they came from. An instruction is identified by its file offset, so the result is independent of
 * the program's run.
 */
#ifndef EXACT_EXACT_PLACES_H
#define EXACT_EXACT_PLACES_H

#include "exact/exact.h"

struct exact_places_module {
	const char *path; /* as in /proc/PID/maps: a file, or "[vdso]" */
	size_t first, n;  /* its instructions */
};

/* The sums over modules plus `no_place` are each event's total. */
struct exact_places {
	size_t events;
	/* by event: in code without a file, or in a file that has changed since it was mapped */
	uint64_t *no_place;
	struct exact_places_module *module;
	size_t modules;
	/* by instruction, ascending in each module: file offset; for the vdso from its start */
	uint64_t *offset;
	uint64_t *value; /* by instruction, `events` values each */
	size_t n;
};

/*
 * `class` and `total` of each of n events. 0, with 0 events if the profile is incomplete for an
 * event; -ENOMEM. Call exact_places_free() after use. Reads the files; about a microsecond per
 * block.
 */
int exact_places(struct exact_places *out, const struct exact_profile *p,
		 const enum exact_class *class, const uint64_t *total, size_t n,
		 struct tare_error *err);
void exact_places_free(struct exact_places *p);

#endif
