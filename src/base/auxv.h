/* SPDX-License-Identifier: MIT */
/* Changes the auxiliary vector of a new program before its first instruction. */
#ifndef BASE_AUXV_H
#define BASE_AUXV_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct auxv_change {
	bool random;  /* its AT_RANDOM bytes become constant */
	bool no_vdso; /* hides the vdso, so it makes system calls instead */
	/*
	 * AT_HWCAP and AT_HWCAP2 become these, and entries that only newer kernels have are
	 * removed, as a program that walks the vector executes more instructions for each
	 */
	bool hwcaps;
	uint64_t hwcap, hwcap2;
};

/*
 * `pid` is in its exec stop of ptrace(2), traced by the caller. 0, or a negative errno.
 */
int auxv_fix(pid_t pid, const struct auxv_change *to);

#endif
