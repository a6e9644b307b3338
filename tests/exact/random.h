/* SPDX-License-Identifier: MIT */
/*
 * Shared by the maker and the runner of random sequences: the addresses, and the format of the file
 * with the sequences.
 *
 *	header | entries | padding to PAGE | code, to be mapped at CODE_AT
 */
#ifndef TESTS_EXACT_RANDOM_H
#define TESTS_EXACT_RANDOM_H

#define CODE_AT    0x10000000
#define DATA_AT    0x18000000 /* data of the sequences; fs and gs start here */
#define DATA_SIZE  2048
#define STACK_AT   0x18004000 /* rsp at the start of a sequence */
#define STACK_SEEN 512        /* bytes on each side of it that are compared */
#define STATE_AT   0x18010000 /* struct state of random_run.c */
#define PAGE       4096

#define MAGIC 0x71a5e0e5u

enum level { LEVEL_SSE, LEVEL_AVX2, LEVEL_AVX512 };

/* At CODE_AT is `jmp *STATE_AT`; each sequence ends with a jump to it. */
struct header {
	unsigned magic, count, level, entries_size;
	unsigned long seed, code_offset, code_size;
};

struct entry {
	unsigned offset; /* of its first instruction, from CODE_AT */
	unsigned size;
	unsigned short end_flags;   /* flags that are defined at its end */
	unsigned short fault_flags; /* flags that are defined at its intended fault, */
	unsigned fault_at;          /* which is at this offset from CODE_AT; or 0 */
};

struct result {
	unsigned long hash; /* of registers, flags, vector state and memory */
	/* when stepped: its instructions; else the offset of its fault from CODE_AT */
	unsigned retired;
	unsigned outcome; /* signal number, or 0 */
};

#endif
