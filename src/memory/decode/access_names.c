/* SPDX-License-Identifier: MIT */
/* Names of the enum values in include/tare/access.h. */
#include "tare/access.h"
#include "base/error.h"

#define NAME(names, i) ((unsigned)(i) < ARRAY_SIZE(names) && (names)[i] ? (names)[i] : "unknown")

const char *tare_access_kind_name(enum tare_access_kind kind)
{
	static const char *const names[] = { "other",    "load",   "store", "update",
					     "prefetch", "branch", "fetch" };

	return NAME(names, kind);
}

const char *tare_access_place_name(enum tare_access_place place)
{
	static const char *const names[] = { "L1",
					     "fill buffer",
					     "L2",
					     "L3",
					     "L4",
					     "cache",
					     "memory",
					     "persistent memory",
					     "extension memory",
					     "I/O",
					     "uncached",
					     "beyond L1",
					     "beyond L3" };

	return NAME(names, place);
}

const char *tare_access_distance_name(enum tare_access_distance distance)
{
	static const char *const names[] = { "own", "near", "socket", "remote" };

	return NAME(names, distance);
}

const char *tare_access_snoop_name(enum tare_access_snoop snoop)
{
	static const char *const names[] = { "none", "miss", "hit", "modified", "forward", "peer" };

	return NAME(names, snoop);
}

const char *tare_access_tlb_name(enum tare_access_tlb tlb)
{
	static const char *const names[] = { "L1", "L2", "walk", "hit" };

	return NAME(names, tlb);
}

const char *tare_access_latency_name(enum tare_access_latency latency)
{
	static const char *const names[] = { "total", "issue",         "translation",
					     "use",   "instruction",   "retire",
					     "miss",  "tag-to-retire", "complete-to-retire",
					     "fetch", "store" };

	return NAME(names, latency);
}

const char *tare_access_origin_name(enum tare_access_origin origin)
{
	static const char *const names[] = { "PEBS", "IBS op", "IBS fetch", "SPE", "exact" };

	return NAME(names, origin);
}
