/* SPDX-License-Identifier: MIT */
/* Macros for the tables of kernels of all architectures; only for kernels.c in their folders. */
#ifndef ARCH_KERNELS_TABLE_H
#define ARCH_KERNELS_TABLE_H

#include "arch/kernels.h"

#define KERNEL(id) void kernel_##id(uint64_t turns, void *memory)
KERNEL(loop);
KERNEL(straight);
KERNEL(taken);
KERNEL(not_taken);
KERNEL(random);
KERNEL(calls);
KERNEL(returns);
KERNEL(jumps);
KERNEL(indirect);
KERNEL(loads);
KERNEL(stores);
KERNEL(far);
KERNEL(atomics);
KERNEL(syscalls);
KERNEL(scalar);
KERNEL(packed);
KERNEL(vector);
KERNEL(divides);

/*
 * Once: the last turn's branch falls through, then a return, which on some architectures loads its
 * address; `more` instructions come before the first turn.
 */
#define ONCE(more)                                                                                 \
	[WORK_INSTRUCTIONS] = 1 + (more), [WORK_BRANCHES] = 1, [WORK_TAKEN] = -1 + 1,              \
	[WORK_RETURNS] = 1, [WORK_LOADS] = RETURN_LOADS
/* Per turn, including the two instructions that end it. */
#define TURN(all) [WORK_INSTRUCTIONS] = (all) + 2
#define BRANCH(all, conditional, taken)                                                            \
	[WORK_BRANCHES] = (all) + 1, [WORK_CONDITIONAL] = (conditional) + 1,                       \
	[WORK_TAKEN] = (taken) + 1

/* Rows that are the same on all architectures. */
#define KERNELS_BRANCHING                                                                          \
	{ "loop",                                                                                  \
	  "two instructions, one of them a taken branch",                                          \
	  kernel_loop,                                                                             \
	  { ONCE(0) },                                                                             \
	  { TURN(0), BRANCH(0, 0, 0) } },                                                          \
		{ "straight",                                                                      \
		  "64 arithmetic instructions in a row",                                           \
		  kernel_straight,                                                                 \
		  { ONCE(0) },                                                                     \
		  { TURN(64), BRANCH(0, 0, 0) } },                                                 \
		{ "taken",                                                                         \
		  "8 branches, taken",                                                             \
		  kernel_taken,                                                                    \
		  { ONCE(0) },                                                                     \
		  { TURN(9), BRANCH(8, 8, 8) } },                                                  \
	{                                                                                          \
		"not-taken", "8 branches, not taken", kernel_not_taken, { ONCE(0) },               \
		{                                                                                  \
			TURN(10), BRANCH(8, 8, 0)                                                  \
		}                                                                                  \
	}
#define KERNELS_MOVING                                                                             \
	{ "jumps", "two jumps", kernel_jumps, { ONCE(0) }, { TURN(2), BRANCH(2, 0, 2) } },         \
		{ "indirect",                                                                      \
		  "two jumps through a register",                                                  \
		  kernel_indirect,                                                                 \
		  { ONCE(0) },                                                                     \
		  { TURN(4), BRANCH(2, 0, 2), [WORK_INDIRECT] = 2 } },                             \
		{ "loads",                                                                         \
		  "8 loads of the same lines",                                                     \
		  kernel_loads,                                                                    \
		  { ONCE(0) },                                                                     \
		  { TURN(8), BRANCH(0, 0, 0), [WORK_LOADS] = 8 } },                                \
	{                                                                                          \
		"stores", "8 stores to the same lines", kernel_stores, { ONCE(0) },                \
		{                                                                                  \
			TURN(8), BRANCH(0, 0, 0), [WORK_STORES] = 8                                \
		}                                                                                  \
	}
#define KERNELS_VECTOR                                                                             \
	{ "scalar",                                                                                \
	  "8 floating-point operations on one value",                                              \
	  kernel_scalar,                                                                           \
	  { ONCE(2), [WORK_VECTOR] = 2 },                                                          \
	  { TURN(8), BRANCH(0, 0, 0), [WORK_VECTOR] = 8, [WORK_SCALAR] = 8 } },                    \
		{ "packed",                                                                        \
		  "8 floating-point operations on two values",                                     \
		  kernel_packed,                                                                   \
		  { ONCE(2), [WORK_VECTOR] = 2 },                                                  \
		  { TURN(8), BRANCH(0, 0, 0), [WORK_VECTOR] = 8, [WORK_PACKED] = 8 } },            \
	{                                                                                          \
		"vector", "8 vector operations on integers", kernel_vector,                        \
			{ ONCE(2), [WORK_VECTOR] = 2 },                                            \
		{                                                                                  \
			TURN(8), BRANCH(0, 0, 0), [WORK_VECTOR] = 8                                \
		}                                                                                  \
	}
/* Per turn of kernel_atomics(). */
#define FOUR_ATOMICS                                                                               \
	{                                                                                          \
		TURN(4), BRANCH(0, 0, 0), [WORK_LOADS] = 4, [WORK_STORES] = 4, [WORK_ATOMICS] = 4  \
	}

extern const struct kernel kernels[];

#endif
