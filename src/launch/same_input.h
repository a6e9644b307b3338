/* SPDX-License-Identifier: MIT */
/*
 * The same standard input for several runs of a command. A file is read from the same offset each
 * time; a pipe or socket is read once, into memory, and each run gets a copy. A terminal, or other
 * endless input, is left unchanged.
 */
#ifndef LAUNCH_SAME_INPUT_H
#define LAUNCH_SAME_INPUT_H

#include <stdint.h>
#include "base/error.h"

enum { SAME_INPUT_MOST = 256 << 20 }; /* limit for a pipe, in bytes */

struct same_input {
	int file;   /* the copy; -1: not needed */
	int before; /* the original standard input; -1: there was none, or it was left unchanged */
	int64_t from; /* the initial offset; -1: not seekable */
};

typedef void same_input_tell(void *with);

/*
 * Reads all input, which waits until the writer closes it: `tell` is called once if that takes
 * longer than a second; after timeout_ns (0: never) it fails with -ETIMEDOUT. -EFBIG for more than
 * SAME_INPUT_MOST. Call same_input_end() in any case.
 */
int same_input_begin(struct same_input *in, uint64_t timeout_ns, same_input_tell *tell, void *with,
		     struct tare_error *err);
/* Before each run. */
int same_input_again(struct same_input *in, struct tare_error *err);
void same_input_end(struct same_input *in);

#endif
