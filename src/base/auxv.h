/* SPDX-License-Identifier: MIT */
/* Changes the auxiliary vector of a new program before its first instruction. */
#ifndef BASE_AUXV_H
#define BASE_AUXV_H

#include <sys/types.h>
#include "base/auxv_pair.h"

struct auxv_change {
	bool random; /* its AT_RANDOM bytes become constant */
	struct auxv_values values;
};

/*
 * `pid` is in its exec stop of ptrace(2), traced by the caller. 0, or a negative errno.
 */
int auxv_fix(pid_t pid, const struct auxv_change *to);

#endif
