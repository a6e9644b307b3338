/* SPDX-License-Identifier: MIT */
/* What the kernel tells a program that begins, changed before its first instruction. */
#ifndef BASE_AUXV_H
#define BASE_AUXV_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * `pid` stands at the exec stop of ptrace(2), traced by the caller. `random`: its AT_RANDOM bytes become constant.
 * `no_vdso`: it is not told of the vdso, and makes system calls in its place. 0, or a negative errno.
 */
int auxv_fix(pid_t pid, bool random, bool no_vdso);

#endif
