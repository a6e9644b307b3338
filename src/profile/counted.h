/* SPDX-License-Identifier: MIT */
/*
 * Replaces amounts by samples with the exact engine's counts per instruction: each function's self amounts become its counts,
 * spread over its stacks in proportion to its samples. For code that is in no file, only the total is counted.
 */
#ifndef PROFILE_COUNTED_H
#define PROFILE_COUNTED_H

#include "profile/samples_private.h"

/* What the frames of a raw profile have become. */
struct counted_names {
	struct stacks *to;
	const uint32_t *first, *count, *made; /* per raw frame: a run of numbers in `made`, the outermost first */
	const uint32_t *column;		      /* per raw column */
};

/* With a raw frame for each instruction of `p`. Only of modules that are files, or the vdso; -ENOMEM. */
int counted_place(struct raw *raw, const struct exact_places *p, struct tare_error *err);
int counted_apply(const struct raw *raw, const struct counted_names *names, struct tare_error *err);

#endif
