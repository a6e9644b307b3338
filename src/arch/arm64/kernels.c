/* SPDX-License-Identifier: MIT */
/* Sizes of the kernels in kernels.S, counted by hand. */
#include <sys/auxv.h>
#include "arch/kernels_table.h"

enum { RETURN_LOADS = 0 };

const struct kernel kernels[] = {
	KERNELS_BRANCHING,
	{ "random",
	  "an unpredictable branch",
	  kernel_random,
	  { ONCE(5) },
	  { TURN(3), BRANCH(2, 2, 1) } },
	{ "calls",
	  "two calls and returns",
	  kernel_calls,
	  { ONCE(2) },
	  { TURN(4), BRANCH(4, 0, 4), [WORK_CALLS] = 2, [WORK_RETURNS] = 2 } },
	{ "returns",
	  "a return without a matching call",
	  kernel_returns,
	  { ONCE(0) },
	  { TURN(2), BRANCH(1, 0, 1), [WORK_RETURNS] = 1 } },
	KERNELS_MOVING,
	{ "far",
	  "a load from another page each time",
	  kernel_far,
	  { ONCE(2) },
	  { TURN(3), BRANCH(0, 0, 0), [WORK_LOADS] = 1 } },
	{ "syscalls",
	  "a system call",
	  kernel_syscalls,
	  { ONCE(1) },
	  { TURN(2), BRANCH(0, 0, 0), [WORK_SYSCALLS] = 1 } },
	KERNELS_VECTOR,
	{ "divides",
	  "two integer divisions",
	  kernel_divides,
	  { ONCE(2) },
	  { TURN(2), BRANCH(0, 0, 0), [WORK_DIVIDES] = 2 } },
	/*
	 * The rest needs atomic instructions, which Armv8.0 lacks. Source: Linux,
	 * Documentation/arch/arm64/elf_hwcaps.rst.
	 */
	{ "atomics",
	  "4 atomic instructions",
	  kernel_atomics,
	  { ONCE(0) },
	  FOUR_ATOMICS,
	  .unsure = 1u << WORK_LOADS | 1u << WORK_STORES },
	{ "contended",
	  "4 atomic instructions on a line that another thread writes",
	  kernel_atomics,
	  { ONCE(0) },
	  FOUR_ATOMICS,
	  .unsure = 1u << WORK_LOADS | 1u << WORK_STORES,
	  .contended = true },
};

enum { WITH_ATOMICS = 2 };

size_t kernel_count(void)
{
	return sizeof(kernels) / sizeof(*kernels) -
		(getauxval(AT_HWCAP) & HWCAP_ATOMICS ? 0 : WITH_ATOMICS);
}
