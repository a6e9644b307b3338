/* SPDX-License-Identifier: MIT */
/*
 * PERF_SAMPLE_RAW data of the exact engine's samples, for which perf has no field of its own.
 * Little-endian (x86-64 only). Readers that do not know the format skip it.
 *
 *	offset  bytes  what
 *	0       4      EXACT_RAW_*: flags of the parts that follow
 *	4       8      the bytes accessed, from the sample's address on; or where a branch leads
 */
#ifndef EXACT_EXACT_RAW_H
#define EXACT_EXACT_RAW_H

enum {
	EXACT_RAW_SIZE = 12,
	EXACT_RAW_BYTES = 1,
	EXACT_RAW_TARGET = 2,
	EXACT_RAW_OUTCOME = 4, /* whether it was taken: EXACT_RAW_TAKEN */
	EXACT_RAW_TAKEN = 8,
};

/*
 * perf_event_attr.config2 of its events: one random event of every `period` is a sample; otherwise
 * the last of them.
 */
#define EXACT_AT_RANDOM 0x746172650001ull

/*
 * config1 of an event in a group read: its value includes, per period, what the code at the sample
 * adds.
 */
#define EXACT_BY_CODE 0x746172650002ull

#endif
