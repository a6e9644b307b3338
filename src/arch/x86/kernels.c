/* SPDX-License-Identifier: MIT */
/* Sizes of the kernels in kernels.S, counted by hand. */
#include "arch/kernels_table.h"

KERNEL(rep);
KERNEL(x87);

enum { RETURN_LOADS = 1 };

const struct kernel kernels[] = {
	KERNELS_BRANCHING,
	{ "random",
	  "an unpredictable branch",
	  kernel_random,
	  { ONCE(2) },
	  { TURN(5), BRANCH(2, 2, 1) } },
	{ "calls",
	  "two calls and returns",
	  kernel_calls,
	  { ONCE(0) },
	  { TURN(4), BRANCH(4, 0, 4), [WORK_CALLS] = 2, [WORK_RETURNS] = 2, [WORK_LOADS] = 2,
	    [WORK_STORES] = 2 } },
	{ "returns",
	  "a return without a matching call",
	  kernel_returns,
	  { ONCE(0) },
	  { TURN(3), BRANCH(1, 0, 1), [WORK_RETURNS] = 1, [WORK_LOADS] = 1, [WORK_STORES] = 1 } },
	KERNELS_MOVING,
	{ "far",
	  "a load from another page each time",
	  kernel_far,
	  { ONCE(1) },
	  { TURN(3), BRANCH(0, 0, 0), [WORK_LOADS] = 1 } },
	{ "atomics", "4 locked instructions", kernel_atomics, { ONCE(0) }, FOUR_ATOMICS },
	{ "contended",
	  "4 locked instructions on a line that another thread writes",
	  kernel_atomics,
	  { ONCE(0) },
	  FOUR_ATOMICS,
	  .contended = true },
	{ "rep",
	  "rep stosb of 64 bytes",
	  kernel_rep,
	  { ONCE(0) },
	  { TURN(8), BRANCH(0, 0, 0), [WORK_STORES] = 1, [WORK_REP] = 1 },
	  .unsure = 1u << WORK_LOADS | 1u << WORK_STORES },
	{ "syscalls",
	  "a system call",
	  kernel_syscalls,
	  { ONCE(0) },
	  { TURN(2), BRANCH(0, 0, 0), [WORK_SYSCALLS] = 1 },
	  .unsure = 1u << WORK_BRANCHES | 1u << WORK_TAKEN },
	{ "x87",
	  "16 x87 instructions",
	  kernel_x87,
	  { ONCE(0) },
	  { TURN(16), BRANCH(0, 0, 0), [WORK_X87] = 16 } },
	KERNELS_VECTOR,
	{ "divides",
	  "two integer divisions",
	  kernel_divides,
	  { ONCE(1) },
	  { TURN(5), BRANCH(0, 0, 0), [WORK_DIVIDES] = 2 } },
};

size_t kernel_count(void)
{
	return sizeof(kernels) / sizeof(*kernels);
}
