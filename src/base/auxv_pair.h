/* SPDX-License-Identifier: MIT */
/* Changes a program's auxiliary vector, one pair at a time. Also for code without a C library. */
#ifndef BASE_AUXV_PAIR_H
#define BASE_AUXV_PAIR_H

#include <linux/auxvec.h>
#include <stdbool.h>
#include <stdint.h>

struct auxv_values {
	bool no_vdso; /* hides the vdso, so the program makes system calls instead */
	/*
	 * AT_HWCAP and AT_HWCAP2 become these, and entries that only newer kernels have are
	 * removed, because each of them costs a program that walks the vector instructions
	 */
	bool hwcaps;
	uint64_t hwcap, hwcap2;
};

/*
 * Change one pair of type and value. False: the caller removes it, and moves the rest up.
 * AT_RSEQ_FEATURE_SIZE (Linux 6.3) is 27, AT_HWCAP4 is 30. Source: include/uapi/linux/auxvec.h
 */
static inline bool auxv_pair(uint64_t pair[2], const struct auxv_values *to)
{
	if (to->hwcaps && pair[0] >= 27 && pair[0] <= 30)
		return false;
	if (to->no_vdso && pair[0] == AT_SYSINFO_EHDR)
		pair[0] = AT_IGNORE;
	else if (to->hwcaps && pair[0] == AT_HWCAP)
		pair[1] = to->hwcap;
	else if (to->hwcaps && pair[0] == AT_HWCAP2)
		pair[1] = to->hwcap2;
	return true;
}

#endif
