/* SPDX-License-Identifier: MIT */
/* Hides a command's output and computes its hash. */
#ifndef LAUNCH_OUTPUT_HASH_H
#define LAUNCH_OUTPUT_HASH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"

struct output_hash {
	int pipe[2], stop, before[2];
	bool to_close[2]; /* at exec */
	pthread_t reader;
	uint64_t hash;
};

/*
 * Replaces tare's standard output and error by a pipe, which child processes inherit and a thread
 * reads. `h` must not move until output_hash_end(). Both must be open, as they are in tare: -EBADF.
 */
int output_hash_begin(struct output_hash *h, struct tare_error *err);
/* Restores them. Returns a hash of the output so far; remaining writers get EPIPE. */
uint64_t output_hash_end(struct output_hash *h);

#endif
