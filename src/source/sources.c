/* SPDX-License-Identifier: MIT */
/* The list of sources: one row each. */
#include <string.h>
#include "source/source.h"

const struct source *const sources[] = { &source_perf, &source_msr, NULL };

const struct source *source_find(const char *name)
{
	for (size_t i = 0; name && sources[i]; i++)
		if (!strcmp(sources[i]->name, name))
			return sources[i];
	return NULL;
}
