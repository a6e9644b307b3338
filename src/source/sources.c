/* SPDX-License-Identifier: MIT */
/* The list of sources: one row each. */
#include <string.h>
#include "source/source.h"

const struct source *const sources[] = { &source_perf, &source_msr, &source_clock,
					&source_exact, NULL };

const struct source source_clock = {
	.name = "clock",
	.about = "wall-clock and CPU time of the command, by the session",
	.clock = true,
};

const struct source *source_find(const char *name)
{
	for (size_t i = 0; name && sources[i]; i++)
		if (!strcmp(sources[i]->name, name))
			return sources[i];
	return NULL;
}
