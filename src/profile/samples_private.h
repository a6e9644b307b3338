/* SPDX-License-Identifier: MIT */
/* What reading samples and naming their frames share. */
#ifndef PROFILE_SAMPLES_PRIVATE_H
#define PROFILE_SAMPLES_PRIVATE_H

#include "symbols/modules.h"
#include "profile/samples.h"
#include "exact/exact_places.h"

/*
 * Frames before they have names: `module` is a module's number, `address` the offset in it; a
 * STACKS_MARK has its name in `function`.
 */
struct raw {
	struct stacks *stacks;
	struct modules modules;
	uint32_t *column; /* by the event's index in the file; SET_NONE: no sample had it */
	size_t n_columns;
	/* With samples_options.counted: what the exact engine counted, and the frame and the module of each instruction of it. */
	const struct exact_places *places; /* NULL: none, or not to be used */
	uint32_t *place_frame, *place_module;
	struct stacks_task alone; /* the one that was first */
	size_t comms;		  /* names that threads have had */
	uint32_t main; /* module: the program with the most samples; SET_NONE: not known */
};

/* A profile with names from one without. */
int samples_name(struct samples *out, struct raw *raw, const struct samples_options *opts,
		 struct tare_error *err);

#endif
