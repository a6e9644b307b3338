/* SPDX-License-Identifier: MIT */
/* A number and its quality: the estimate for the whole time, and the names. */
#include <stddef.h>
#include "tare/reading.h"

uint64_t tare_reading_scaled(const struct tare_reading *r)
{
	if (r->quality == TARE_UNAVAILABLE)
		return 0;
	if (r->quality != TARE_SCALED || r->running_ns == 0 || r->running_ns >= r->enabled_ns)
		return r->raw;

	unsigned __int128 n = (unsigned __int128)r->raw * r->enabled_ns + r->running_ns / 2;

	n /= r->running_ns;
	return n > UINT64_MAX ? UINT64_MAX : (uint64_t)n;
}

const char *tare_quality_name(enum tare_quality q)
{
	static const char *const names[] = {
		[TARE_UNAVAILABLE] = "unavailable",
		[TARE_SCALED] = "scaled",
		[TARE_SIMULATED] = "simulated",
		[TARE_COUNTED] = "counted",
		[TARE_EXACT] = "exact",
	};

	return q < sizeof(names) / sizeof(names[0]) ? names[q] : "unknown";
}
