/* SPDX-License-Identifier: MIT */
/* The scheduling policy of tare itself while the command runs with the item `turns`. */
#ifndef LAUNCH_TURNS_H
#define LAUNCH_TURNS_H

#include <sched.h>
#include "launch/determinism.h"

struct turns_before {
	int policy; /* of the calling thread; -1: nothing was changed */
	struct sched_param param;
};

/*
 * Gives the calling thread a real-time priority above the command's, so that it can end a command
 * that spins. If that is not permitted, the item is reported as not fixed.
 */
void turns_begin(struct determinism *f, struct turns_before *before);
void turns_restore(struct turns_before *before);

#endif
