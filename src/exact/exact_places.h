/* SPDX-License-Identifier: MIT */
/*
 * What the exact engine counted at each instruction: the profile's blocks, split by decoding the files that they came from. An
 * instruction is known by its offset in its file, so that this outlives the program.
 */
#ifndef EXACT_EXACT_PLACES_H
#define EXACT_EXACT_PLACES_H

#include "exact/exact.h"

struct exact_places_module {
	const char *path;    /* as a mapping names it: a file, or "[vdso]" */
	size_t first, n;     /* its instructions */
};

/* Sums over modules and `no_place` are what each event counted in all. */
struct exact_places {
	size_t events;
	uint64_t *no_place; /* by event: in code of no file, or of one that is not as it was mapped */
	struct exact_places_module *module;
	size_t modules;
	uint64_t *offset; /* by instruction, ascending in each module: in the file; of the vdso from its start */
	uint64_t *value;  /* by instruction, `events` each */
	size_t n;
};

/*
 * `class` and `total`: of each of n events. 0, with 0 events where the profile does not tell all of every event; -ENOMEM.
 * exact_places_free() after use. Reads the files: a microsecond a block.
 */
int exact_places(struct exact_places *out, const struct exact_profile *p, const enum exact_class *class,
		 const uint64_t *total, size_t n, struct tare_error *err);
void exact_places_free(struct exact_places *p);

#endif
