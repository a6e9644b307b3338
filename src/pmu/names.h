/* SPDX-License-Identifier: MIT */
/*
 * Names that every Linux supports: clocks, software, hardware and cache events, and other tools'
 * names for them.
 */
#ifndef PMU_NAMES_H
#define PMU_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GENERIC_ROOM = 128 };

enum name_type { NAME_CLOCK, NAME_SOFTWARE, NAME_HARDWARE, NAME_CACHE };

struct generic_name {
	const char *name;
	enum name_type type;
	uint64_t config;
	const char *unit; /* of the value read: "ns", "" */
	const char *about;
};

/*
 * Find the meaning of a name; false if unknown. Includes perf's names and spellings, PAPI's presets
 * and LIKWID's names. Cache events are composed (L1-dcache-load-misses, l1d-loads, dTLB-read-access
 * ...): their `name` is perf's own spelling; it and `about` are stored in `room`.
 */
bool generic_find(const char *name, struct generic_name *out, char room[GENERIC_ROOM]);

/* List: 0, 1, ... until false. Each meaning once, under its first name. */
bool generic_nth(size_t i, struct generic_name *out, char room[GENERIC_ROOM]);

/* The other names: 0, 1, ...; NULL past the last. For search and nearest names. */
const char *generic_alias(size_t i);

#endif
