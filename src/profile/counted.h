/* SPDX-License-Identifier: MIT */
/*
 * Replaces amounts by samples with the exact engine's counts per instruction: each function's self
 * amounts become its counts, spread over its stacks in proportion to its samples. For code outside
 * any file, only the total is counted.
 */
#ifndef PROFILE_COUNTED_H
#define PROFILE_COUNTED_H

#include "profile/samples_private.h"

/* Maps the frames of a raw profile to those of the result. */
struct counted_names {
	struct call_tree *to;
	/* per raw frame: a range of indices in `made`, the outermost first */
	const uint32_t *first, *count, *made;
	const uint32_t *column; /* per raw column */
};

/*
 * Adds a raw frame for each instruction of `p`. Only for modules that are files, and the vdso;
 * -ENOMEM.
 */
int counted_place(struct raw *raw, const struct exact_places *p, struct tare_error *err);
int counted_apply(const struct raw *raw, const struct counted_names *names, struct tare_error *err);

#endif
