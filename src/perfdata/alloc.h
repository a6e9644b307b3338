/* SPDX-License-Identifier: MIT */
/*
 * Blocks of memory that a program took and gave back, as the recorder of `tare record --alloc` (src/alloc) writes
 * them beside a perf.data, and how they are read. The file is written through shared mappings, so a killed program has lost nothing
 * that it had written. In the machine's byte order; all parts begin at multiples of 8.
 *
 *	the head, at 0; the first block begins at ALLOC_PAGE
 *	offset  size
 *	0       8     "TAREBLKS"
 *	8       4     version, 3; reads otherwise in a file of the other byte order
 *	12      4     bytes of a block: ALLOC_BLOCK
 *	16      8     blocks given out; the file is that long, unless the disk was full
 *	24      8     records that found no room
 *	32      4     the clock of all times, as clock_gettime(2) numbers it: 1, CLOCK_MONOTONIC
 *	36      4     blocks that it may have
 *
 *	a block: its process, then records; several threads may have written into one, one after the other
 *	0       4     "BLOK"
 *	4       4     pid
 *	8       8     bytes of whole records behind this head
 *	16            records
 *
 *	a record
 *	0       2     its bytes, filled up to a multiple of 8
 *	2       1     enum alloc_kind
 *	3       1     frames; only TAKEN and MAPPED have some, and what follows their size
 *	4       4     tid
 *	8       8     time, ns: of a block taken, after it was; of one given back, before
 *	16      8     address; of FORK and PROGRAM the parent's pid
 *	24      8     bytes; of FREE 0: the whole block, as it was taken
 *	32      6     the stack pointer that the call returns to
 *	38      4     bit i: the i-th word of the stack from there is told. Those that cannot be an address are not
 *	42      12*n  a return address and a frame pointer: of the call and of the function that it returns to; then, as far as frame
 *	              pointers lead, of what lies at each of them
 *	        6*m   the words: return addresses of functions that frame pointers pass by
 *
 * Addresses are the lower 6 bytes; arm64 may sign return addresses in the others.
 */
#ifndef PERFDATA_ALLOC_H
#define PERFDATA_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "base/text.h"

#define ALLOC_MAGIC "TAREBLKS"
#define ALLOC_BLOCK_MAGIC 0x4b4f4c42u /* "BLOK" */

enum { ALLOC_VERSION = 3, ALLOC_PAGE = 4096, ALLOC_BLOCK = 64 << 10, ALLOC_FRAMES = 8, ALLOC_WORDS = 32 };

/* Bytes of a file without another limit: more than is looked at (memory/accessed_blocks.c). */
enum { ALLOC_MOST = 1 << 30 };

enum alloc_kind {
	ALLOC_TAKEN = 1, /* malloc and its kin */
	ALLOC_FREED,
	ALLOC_MAPPED,	 /* mmap, without a file */
	ALLOC_UNMAPPED,	 /* any part of what was mapped */
	ALLOC_FORK,	 /* the process begins with all blocks of its parent */
	ALLOC_PROGRAM,	 /* the process begins, or executes another program: with none */
};

struct alloc_head {
	char magic[8];
	uint32_t version, block;
	uint64_t blocks, lost;
	uint32_t clock, most;
	uint64_t lost_ns; /* since when, where some were lost */
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
	/* with frames an address, 32 bits, addresses */
};

struct alloc_frame {
	uint64_t returns; /* the return address */
	uint64_t pointer; /* the frame pointer of the function that it returns to */
};

enum { ALLOC_ADDRESS = 6, ALLOC_FRAMES_AT = sizeof(struct alloc_record) + ALLOC_ADDRESS + 4 };

/* An empty file for the recorder, which may have that many bytes; 0: ALLOC_MOST, which is the most. 0 or a negative errno. */
int alloc_begin(int fd, uint64_t most);

/* ---- reading ---- */

struct alloc_event {
	enum alloc_kind kind;
	uint32_t pid, tid;
	uint64_t time_ns, address, size;
	uint64_t stack; /* the stack pointer that the call returns to */
	uint8_t frames; /* 0: it has no stack either */
	uint32_t told; /* bit i: word[i] is known */
	struct alloc_frame frame[ALLOC_FRAMES];
	uint64_t word[ALLOC_WORDS]; /* of the stack, from there */
};

struct alloc_loss {
	uint64_t lost;	  /* records that the recorder found no room for */
	uint64_t since_ns; /* the first of these */
	uint64_t full;	  /* because the file had that many bytes, and may not have more; 0: it could not grow */
	uint64_t damaged; /* bytes in blocks that are no records */
	uint64_t damaged_at; /* offset of the first of them */
	uint64_t missing; /* blocks that the head tells of and the file does not hold */
	uint64_t missing_at; /* offset of the first of them */
};

struct alloc_file;

/*
 * Any bytes: 0, or a negative errno with what is wrong and where. Damage behind the head is no error: it is counted, and
 * what is whole is read. Takes 16 bytes of memory for each record, so that they can be given in the order of time. alloc_close() frees; NULL is
 * fine.
 */
int alloc_open(struct alloc_file **out, const char *path, struct tare_error *err);
/* The next one in order of time; of equal times, in the order of each thread. 1; 0 at the end. */
int alloc_next(struct alloc_file *f, struct alloc_event *out);
const struct alloc_loss *alloc_loss(const struct alloc_file *f);
/* The undecoded parts, as "36 bytes are no records, the first at byte 4096; 2 blocks are not in the file, the first at byte 69632". */
void alloc_loss_text(struct text *out, const struct alloc_loss *loss);
uint64_t alloc_count(const struct alloc_file *f);
uint64_t alloc_count_of(const struct alloc_file *f, enum alloc_kind kind);
void alloc_close(struct alloc_file *f);

/* PATH of a recording -> PATH.alloc, PATH.part, left by a killed recorder -> PATH.alloc.part; false when it does not fit. */
bool alloc_path(char *out, size_t room, const char *recording);

#endif
