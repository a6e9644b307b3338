/* SPDX-License-Identifier: MIT */
/* The output of a command that nobody is to see, hashed. */
#ifndef SESSION_HIDDEN_H
#define SESSION_HIDDEN_H

#include <stdint.h>
#include "base/error.h"

struct hidden {
	int fd, before[2];
};

/* From here on tare's standard output and error are a file of memory, which what it starts inherits. */
int hidden_begin(struct hidden *h, struct tare_error *err);
/* They are again what they were. A hash of what was written. */
uint64_t hidden_end(struct hidden *h);

#endif
