/* SPDX-License-Identifier: MIT */
/* Shared by reading samples and naming their frames. */
#ifndef PROFILE_SAMPLES_PRIVATE_H
#define PROFILE_SAMPLES_PRIVATE_H

#include "symbols/modules.h"
#include "profile/samples.h"
#include "exact/exact_places.h"

/*
 * Frames before they have names: `module` is a module's number, `address` the offset in it; a
 * CALL_TREE_MARK already has its name in `function`.
 */
struct raw {
	struct call_tree *call_tree;
	struct modules modules;
	uint32_t *column; /* by the event's index in the file; SET_NONE: no sample of it */
	size_t n_columns;
	/*
	 * With samples_options.counted: the exact engine's counts, and the frame and module of each
	 * of their instructions.
	 */
	const struct exact_places *places; /* NULL: none, or not usable */
	uint32_t *place_frame, *place_module;
	struct call_tree_task alone; /* the first one */
	size_t comms;                /* names of threads */
	uint32_t main; /* module: the program with the most samples; SET_NONE: not known */
};

/* Makes a profile with names from one without. */
int samples_name(struct samples *out, struct raw *raw, const struct samples_options *opts,
		 struct tare_error *err);

#endif
