/* SPDX-License-Identifier: MIT */
/*
 * A program's allocations and frees: the file that the recorder of `tare record --alloc`
 * (src/alloc) writes next to a perf.data, and its reader. The file is written through shared
 * mappings, so a killed program loses nothing that it had written. In the machine's byte order; all
 * parts begin at multiples of 8.
 *
 *	the head, at 0; the first block begins at ALLOC_PAGE
 *	offset  size
 *	0       8     "TAREBLKS"
 *	8       4     version, 3; other values in a file of the other byte order
 *	12      4     bytes of a block: ALLOC_BLOCK
 *	16      8     blocks in use; the file has that length, unless the disk was full
 *	24      8     records that did not fit
 *	32      4     clockid of all times, as for clock_gettime(2): 1, CLOCK_MONOTONIC
 *	36      4     most blocks
 *
 *	a block: its process, then records; several threads may have written to it in turn
 *	0       4     "BLOK"
 *	4       4     pid
 *	8       8     bytes of complete records after this head
 *	16            records
 *
 *	a record
 *	0       2     its size, padded to a multiple of 8
 *	2       1     enum alloc_kind
 *	3       1     frames; only TAKEN and MAPPED have frames and the fields after the size
 *	4       4     tid
 *	8       8     time, ns: after an allocation; before a free
 *	16      8     address; for FORK and PROGRAM the parent's pid
 *	24      8     bytes; for FREE 0: the whole block as allocated
 *	32      6     the stack pointer that the call returns to
 *	38      4     bit i: the i-th stack word from there is recorded; words that cannot be an
 *	              address are left out
 *	42      12*n  a return address and a frame pointer: first those of the call and of
 *	              the function that it returns to, then those found by following frame pointers
 *	        6*m   the words: return addresses of functions without a frame pointer
 *
 * Addresses are stored as their lower 6 bytes; arm64 may sign return addresses in the upper ones.
 */
#ifndef PERFDATA_ALLOC_H
#define PERFDATA_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "base/text.h"

#define ALLOC_MAGIC       "TAREBLKS"
#define ALLOC_BLOCK_MAGIC 0x4b4f4c42u /* "BLOK" */

enum {
	ALLOC_VERSION = 3,
	ALLOC_PAGE = 4096,
	ALLOC_BLOCK = 64 << 10,
	ALLOC_FRAMES = 8,
	ALLOC_WORDS = 32
};

/*
 * Largest file if no other limit is given: more than is analysed (memory/memory_samples_blocks.c).
 */
enum { ALLOC_MOST = 1 << 30 };

enum alloc_kind {
	ALLOC_TAKEN = 1, /* malloc and related functions */
	ALLOC_FREED,
	ALLOC_MAPPED,   /* mmap, without a file */
	ALLOC_UNMAPPED, /* any part of a mapping */
	ALLOC_FORK,     /* the process starts with all blocks of its parent */
	ALLOC_PROGRAM,  /* the process starts, or executes another program: without blocks */
};

struct alloc_head {
	char magic[8];
	uint32_t version, block;
	uint64_t blocks, lost;
	uint32_t clock, most;
	uint64_t lost_ns; /* time of the first loss, if any */
};

struct alloc_block {
	uint32_t magic, pid;
	uint64_t used;
};

struct alloc_record {
	uint16_t bytes;
	uint8_t kind, frames;
	uint32_t tid;
	uint64_t time_ns, address, size;
	/* with frames, followed by an address, 32 bits, addresses */
};

struct alloc_frame {
	uint64_t returns; /* the return address */
	uint64_t pointer; /* the frame pointer of the function returned to */
};

enum { ALLOC_ADDRESS = 6, ALLOC_FRAMES_AT = sizeof(struct alloc_record) + ALLOC_ADDRESS + 4 };

/*
 * Creates an empty file for the recorder with that size limit; 0: ALLOC_MOST, the maximum. 0 or a
 * negative errno.
 */
int alloc_begin(int fd, uint64_t most);

/* ---- reading ---- */

struct alloc_event {
	enum alloc_kind kind;
	uint32_t pid, tid;
	uint64_t time_ns, address, size;
	uint64_t stack; /* the stack pointer that the call returns to */
	uint8_t frames; /* 0: the stack was not recorded either */
	uint32_t told;  /* bit i: word[i] is recorded */
	struct alloc_frame frame[ALLOC_FRAMES];
	uint64_t word[ALLOC_WORDS]; /* words of the stack, from there */
};

struct alloc_loss {
	uint64_t lost;       /* records that the recorder had no space for */
	uint64_t since_ns;   /* the first of these */
	uint64_t full;       /* because of this size limit of the file; 0: it could not grow */
	uint64_t damaged;    /* bytes in blocks that are not valid records */
	uint64_t damaged_at; /* offset of the first of them */
	uint64_t missing;    /* blocks counted in the head but missing in the file */
	uint64_t missing_at; /* offset of the first of them */
};

struct alloc_file;

/*
 * Accepts any bytes: 0, or a negative errno with an error that says what is wrong and where. Damage
 * after the head is not an error: it is counted, and whole records are read. Uses 16 bytes of
 * memory per record to return them in order of time. alloc_close() frees, and accepts NULL.
 */
int alloc_open(struct alloc_file **out, const char *path, struct tare_error *err);
/* The next record in order of time; equal times keep each thread's order. 1; 0 at the end. */
int alloc_next(struct alloc_file *f, struct alloc_event *out);
const struct alloc_loss *alloc_loss(const struct alloc_file *f);
/*
 * Describes the undecoded parts: "36 bytes are no records, the first at byte 4096; 2 blocks are not
 * in the file, the first at byte 69632".
 */
void alloc_loss_text(struct text *out, const struct alloc_loss *loss);
uint64_t alloc_count(const struct alloc_file *f);
uint64_t alloc_count_of(const struct alloc_file *f, enum alloc_kind kind);
void alloc_close(struct alloc_file *f);

/*
 * PATH of a recording -> PATH.alloc; PATH.part, left by a killed recorder -> PATH.alloc.part; false
 * if it does not fit.
 */
bool alloc_path(char *out, size_t room, const char *recording);

/*
 * May a new recording move or remove `path`? Only a regular file of this user that alloc_begin()
 * began.
 */
bool alloc_is_own(const char *path);

#endif
