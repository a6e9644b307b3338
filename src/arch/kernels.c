/* SPDX-License-Identifier: MIT */
#include "arch/kernels_table.h"

const char *const work_class_names[WORK_CLASSES] = {
	[WORK_INSTRUCTIONS] = "instructions",
	[WORK_BRANCHES] = "branches",
	[WORK_CONDITIONAL] = "conditional-branches",
	[WORK_TAKEN] = "taken-branches",
	[WORK_CALLS] = "calls",
	[WORK_RETURNS] = "returns",
	[WORK_INDIRECT] = "indirect-branches",
	[WORK_LOADS] = "loads",
	[WORK_STORES] = "stores",
	[WORK_ATOMICS] = "atomics",
	[WORK_REP] = "rep",
	[WORK_SYSCALLS] = "syscalls",
	[WORK_X87] = "x87",
	[WORK_VECTOR] = "vector-instructions",
	[WORK_SCALAR] = "scalar-arithmetic",
	[WORK_PACKED] = "packed-arithmetic",
	[WORK_DIVIDES] = "divisions",
	[WORK_FAULTS] = "page-faults",
};

const struct kernel *kernel_at(size_t i)
{
	return i < kernel_count() ? &kernels[i] : NULL;
}
