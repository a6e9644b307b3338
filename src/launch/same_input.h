/* SPDX-License-Identifier: MIT */
/*
 * One standard input for several runs of a command. A file is read from the same place each time; a pipe or socket is read once,
 * into memory, and each run is given that. A terminal, and what else has no end, is left as it is.
 */
#ifndef LAUNCH_SAME_INPUT_H
#define LAUNCH_SAME_INPUT_H

#include <stdint.h>
#include "base/error.h"

enum { SAME_INPUT_MOST = 256 << 20 }; /* bytes of a pipe */

struct same_input {
	int file; /* what was read; -1: nothing had to be */
	int before; /* standard input, as it was; -1: there was none, or it was left alone */
	int64_t from; /* where it began; -1: it has no places */
};

typedef void same_input_tell(void *with);

/*
 * Reads all there is, which waits until whoever writes it closes it: `tell` is called once when that takes longer than a second, and
 * after timeout_ns (0: never) it is -ETIMEDOUT. -EFBIG for more than SAME_INPUT_MOST. same_input_end() in any case.
 */
int same_input_begin(struct same_input *in, uint64_t timeout_ns, same_input_tell *tell, void *with, struct tare_error *err);
/* Before each run. */
int same_input_again(struct same_input *in, struct tare_error *err);
void same_input_end(struct same_input *in);

#endif
