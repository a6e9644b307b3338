/* SPDX-License-Identifier: MIT */
/* Hides a command's output and computes its hash. */
#ifndef LAUNCH_HIDDEN_H
#define LAUNCH_HIDDEN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"

struct hidden {
	int pipe[2], stop, before[2];
	bool to_close[2]; /* at exec */
	pthread_t reader;
	uint64_t hash;
};

/*
 * Replaces tare's standard output and error by a pipe, which child processes inherit and a thread
 * reads. `h` must not move until hidden_end(). Both must be open, as they are in tare: -EBADF.
 */
int hidden_begin(struct hidden *h, struct tare_error *err);
/* Restores them. Returns a hash of the output so far; remaining writers get EPIPE. */
uint64_t hidden_end(struct hidden *h);

#endif
