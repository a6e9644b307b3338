/* SPDX-License-Identifier: MIT */
/* How much each kernel of kernels.S is, counted by reading it. */
#include <sys/auxv.h>
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

/* The last turn's b.ne falls through, then comes a ret; `more` instructions stand before the first turn. */
#define ONCE(more) [WORK_INSTRUCTIONS] = 1 + (more), [WORK_BRANCHES] = 1, [WORK_TAKEN] = -1 + 1, [WORK_RETURNS] = 1
/* Of a turn, subs and b.ne included. */
#define TURN(all) [WORK_INSTRUCTIONS] = (all) + 2
#define BRANCH(all, conditional, taken) [WORK_BRANCHES] = (all) + 1, [WORK_CONDITIONAL] = (conditional) + 1, [WORK_TAKEN] = (taken) + 1

static const struct kernel kernels[] = {
	{ "loop", "two instructions, one of them a taken branch", kernel_loop, { ONCE(0) }, { TURN(0), BRANCH(0, 0, 0) } },
	{ "straight", "64 arithmetic instructions in a row", kernel_straight, { ONCE(0) }, { TURN(64), BRANCH(0, 0, 0) } },
	{ "taken", "8 branches, taken", kernel_taken, { ONCE(0) }, { TURN(9), BRANCH(8, 8, 8) } },
	{ "not-taken", "8 branches, not taken", kernel_not_taken, { ONCE(0) }, { TURN(10), BRANCH(8, 8, 0) } },
	{ "random", "a branch that no one can predict", kernel_random, { ONCE(5) }, { TURN(3), BRANCH(2, 2, 1) } },
	{ "calls", "two calls and returns", kernel_calls, { ONCE(2) },
	  { TURN(4), BRANCH(4, 0, 4), [WORK_CALLS] = 2, [WORK_RETURNS] = 2 } },
	{ "returns", "a return that no call belongs to", kernel_returns, { ONCE(0) }, { TURN(2), BRANCH(1, 0, 1), [WORK_RETURNS] = 1 } },
	{ "jumps", "two jumps", kernel_jumps, { ONCE(0) }, { TURN(2), BRANCH(2, 0, 2) } },
	{ "indirect", "two jumps through a register", kernel_indirect, { ONCE(0) }, { TURN(4), BRANCH(2, 0, 2), [WORK_INDIRECT] = 2 } },
	{ "loads", "8 loads of the same lines", kernel_loads, { ONCE(0) }, { TURN(8), BRANCH(0, 0, 0), [WORK_LOADS] = 8 } },
	{ "stores", "8 stores to the same lines", kernel_stores, { ONCE(0) }, { TURN(8), BRANCH(0, 0, 0), [WORK_STORES] = 8 } },
	{ "far", "a load, each time of another page", kernel_far, { ONCE(2) }, { TURN(3), BRANCH(0, 0, 0), [WORK_LOADS] = 1 } },
	{ "syscalls", "a system call", kernel_syscalls, { ONCE(1) }, { TURN(2), BRANCH(0, 0, 0), [WORK_SYSCALLS] = 1 } },
	{ "scalar", "8 floating-point operations on one value", kernel_scalar, { ONCE(2), [WORK_VECTOR] = 2 },
	  { TURN(8), BRANCH(0, 0, 0), [WORK_VECTOR] = 8, [WORK_SCALAR] = 8 } },
	{ "packed", "8 floating-point operations on two values", kernel_packed, { ONCE(2), [WORK_VECTOR] = 2 },
	  { TURN(8), BRANCH(0, 0, 0), [WORK_VECTOR] = 8, [WORK_PACKED] = 8 } },
	{ "vector", "8 vector operations on integers", kernel_vector, { ONCE(2), [WORK_VECTOR] = 2 }, { TURN(8), BRANCH(0, 0, 0), [WORK_VECTOR] = 8 } },
	{ "divides", "two integer divisions", kernel_divides, { ONCE(2) }, { TURN(2), BRANCH(0, 0, 0), [WORK_DIVIDES] = 2 } },
	/* The rest needs atomic instructions, which Armv8.0 lacks. Source: Linux, Documentation/arch/arm64/elf_hwcaps.rst. */
	{ "atomics", "4 atomic instructions", kernel_atomics, { ONCE(0) },
	  { TURN(4), BRANCH(0, 0, 0), [WORK_LOADS] = 4, [WORK_STORES] = 4, [WORK_ATOMICS] = 4 }, .unsure = 1u << WORK_LOADS | 1u << WORK_STORES },
	{ "contended", "4 atomic instructions on a line that another thread takes away", kernel_atomics, { ONCE(0) },
	  { TURN(4), BRANCH(0, 0, 0), [WORK_LOADS] = 4, [WORK_STORES] = 4, [WORK_ATOMICS] = 4 },
	  .unsure = 1u << WORK_LOADS | 1u << WORK_STORES, .contended = true },
};

enum { WITH_ATOMICS = 2 };

const struct kernel *kernel_at(size_t i)
{
	return i < kernel_count() ? &kernels[i] : NULL;
}

size_t kernel_count(void)
{
	return sizeof(kernels) / sizeof(*kernels) - (getauxval(AT_HWCAP) & HWCAP_ATOMICS ? 0 : WITH_ATOMICS);
}
