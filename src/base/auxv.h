/* SPDX-License-Identifier: MIT */
/* Changes the auxiliary vector of a new program before its first instruction. */
#ifndef BASE_AUXV_H
#define BASE_AUXV_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * `pid` is in its exec stop of ptrace(2), traced by the caller. `random`: its AT_RANDOM bytes
 * become constant. `no_vdso`: hides the vdso, so it makes system calls instead. 0, or a negative
 * errno.
 */
int auxv_fix(pid_t pid, bool random, bool no_vdso);

#endif
