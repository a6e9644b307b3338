/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "output/escape.h"
#include "sample/record_size.h"

bool record_size_enough(struct record_size *s, uint64_t bytes, uint64_t blocks, uint64_t ns,
			struct text *out)
{
	const double mib = 1 << 20, ns_per_s = 1e9, seconds = (double)(ns ? ns : 1) / ns_per_s;

	if (s->most || !s->file || s->told || bytes + blocks < RECORD_LARGE)
		return s->most && bytes + blocks >= s->most;
	s->told = true;
	escape(out, s->file, strlen(s->file));
	text_add(out, " has %.0f MiB", (double)bytes / mib);
	if (blocks)
		text_add(out, ", and its allocations (--alloc) %.0f MiB,", (double)blocks / mib);
	text_add(
		out,
		" after %.0f s, %.1f MiB/s, and grows: %s takes fewer samples, --max-size SIZE limits it\n",
		seconds, (double)(bytes + blocks) / mib / seconds, s->less);
	return false;
}
