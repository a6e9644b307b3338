/* SPDX-License-Identifier: MIT */
/* An encoding told to count in user mode only, or in the kernel only; and its name to say so. */
#include <stdio.h>
#include <string.h>
#include "pmu/pmu.h"

void encoding_restrict(struct encoding *e, bool user)
{
	size_t n = strlen(e->name);
	const char *mods = strrchr(e->name, ':');
	bool named = mods && strpbrk(mods, "ukh"), slash = n && e->name[n - 1] == '/';

	if (user)
		e->attr.exclude_kernel = e->attr.exclude_hv = 1;
	else
		e->attr.exclude_user = 1;
	if (!named && n + 3 < sizeof(e->name))
		snprintf(e->name + n, 3, "%s%s", mods || slash ? "" : ":", user ? "u" : "k");
}
