/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "view/escape.h"
#include "view/record_size.h"

bool record_size_enough(struct record_size *s, uint64_t bytes, uint64_t ns, struct text *out)
{
	const double mib = 1 << 20, ns_per_s = 1e9, seconds = (double)(ns ? ns : 1) / ns_per_s;

	if (s->most || !s->file || s->told || bytes < RECORD_LARGE)
		return s->most && bytes >= s->most;
	s->told = true;
	escape(out, s->file, strlen(s->file));
	text_add(out, " has %.0f MiB after %.0f s, %.1f MiB/s, and grows: %s takes fewer samples, --max-size SIZE ends by itself\n", (double)bytes / mib,
		 seconds, (double)bytes / mib / seconds, s->less);
	return false;
}
