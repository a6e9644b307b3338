/* SPDX-License-Identifier: MIT */
/*
 * What samples of the exact engine hold that the kernel's own fields have no place for, as PERF_SAMPLE_RAW; little-endian, as it is
 * of x86-64 only. Readers that do not know it pass over it.
 *
 *	offset  bytes  what
 *	0       4      EXACT_RAW_* : what is told
 *	4       8      the bytes accessed, from the sample's address on; or where a branch leads
 */
#ifndef EXACT_EXACT_RAW_H
#define EXACT_EXACT_RAW_H

enum {
	EXACT_RAW_SIZE = 12,
	EXACT_RAW_BYTES = 1,
	EXACT_RAW_TARGET = 2,
	EXACT_RAW_OUTCOME = 4, /* whether it went there: EXACT_RAW_TAKEN */
	EXACT_RAW_TAKEN = 8,
};

/* perf_event_attr.config2 of its events: of every `period` events one at random is a sample; else the last of them. */
#define EXACT_AT_RANDOM 0x746172650001ull

/* config1 of an event that is read: it moves by what the code at the sample adds to it in a period. */
#define EXACT_BY_CODE 0x746172650002ull

#endif
