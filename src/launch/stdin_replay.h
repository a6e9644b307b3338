/* SPDX-License-Identifier: MIT */
/*
 * The same standard input for several runs of a command. A file is read from the same offset each
 * time; a pipe or socket is read once, into memory, and each run gets a copy. A terminal, or other
 * endless input, is left unchanged.
 */
#ifndef LAUNCH_STDIN_REPLAY_H
#define LAUNCH_STDIN_REPLAY_H

#include <stdint.h>
#include "base/error.h"

enum { STDIN_REPLAY_MOST = 256 << 20 }; /* limit for a pipe, in bytes */

struct stdin_replay {
	int file;   /* the copy; -1: not needed */
	int before; /* the original standard input; -1: there was none, or it was left unchanged */
	int64_t from; /* the initial offset; -1: not seekable */
};

typedef void stdin_replay_tell(void *with);

/*
 * Reads all input, which waits until the writer closes it: `tell` is called once if that takes
 * longer than a second; after timeout_ns (0: never) it fails with -ETIMEDOUT. -EFBIG for more than
 * STDIN_REPLAY_MOST. Call stdin_replay_end() in any case.
 */
int stdin_replay_begin(struct stdin_replay *in, uint64_t timeout_ns, stdin_replay_tell *tell,
		       void *with, struct tare_error *err);
/* Before each run. */
int stdin_replay_again(struct stdin_replay *in, struct tare_error *err);
void stdin_replay_end(struct stdin_replay *in);

#endif
