/* SPDX-License-Identifier: MIT */
/* The output of a command that nobody is to see, hashed as it comes: none of it is kept. */
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
 * From here on tare's standard output and error are a pipe, which what it starts inherits; a thread reads it. `h` must stay where it
 * is until hidden_end(). Both must be open, as in tare they are: -EBADF.
 */
int hidden_begin(struct hidden *h, struct tare_error *err);
/* They are again what they were. A hash of what was written until now; who still writes is told that nobody reads. */
uint64_t hidden_end(struct hidden *h);

#endif
