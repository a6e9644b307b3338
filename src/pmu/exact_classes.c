/* SPDX-License-Identifier: MIT */
/* Names of the classes. */
#include <stdlib.h>
#include "exact/exact.h"
#include "pmu/exact_events.h"

_Static_assert((int)EXACT_EVENTS == (int)EXACT_CLASSES, "an event for every class");

const char *const exact_class_names[EXACT_CLASSES] = {
	[EXACT_INSTRUCTIONS] = "instructions",
	[EXACT_BRANCHES] = "branches",
	[EXACT_CONDITIONAL] = "conditional-branches",
	[EXACT_TAKEN] = "taken-branches",
	[EXACT_CALLS] = "calls",
	[EXACT_RETURNS] = "returns",
	[EXACT_INDIRECT] = "indirect-branches",
	[EXACT_LOADS] = "loads",
	[EXACT_STORES] = "stores",
	[EXACT_ATOMICS] = "atomics",
	[EXACT_REP] = "rep",
	[EXACT_SYSCALLS] = "syscalls",
	[EXACT_X87] = "x87",
	[EXACT_MMX] = "mmx",
	[EXACT_VEC128] = "vector-128",
	[EXACT_VEC256] = "vector-256",
	[EXACT_VEC512] = "vector-512",
	[EXACT_ACCESSES] = "accesses",
};

void exact_profile_free(struct exact_profile *p)
{
	for (size_t i = 0; i < p->n_modules; i++)
		free(p->module[i].path);
	free(p->module);
	free(p->code);
	*p = (struct exact_profile){ 0 };
}
