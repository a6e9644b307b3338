/* SPDX-License-Identifier: MIT */
/*
 * Who allocates: the blocks that `tare record --alloc` recorded, summed by the place that allocated them. All numbers are sums of
 * recorded values; nothing is estimated. A realloc frees a block and allocates one.
 */
#ifndef MEMORY_ALLOCATIONS_H
#define MEMORY_ALLOCATIONS_H

#include "memory/accessed.h"

struct allocations_sum {
	uint64_t count, bytes;		 /* taken */
	uint64_t freed;			 /* of these: how many were freed */
	uint64_t peak_count, peak_bytes; /* live when the most bytes were live in their process */
	uint64_t live_count, live_bytes; /* at the end: of the process, or when it executed another program */
	uint64_t largest;		 /* bytes of one block */
};

struct allocations_row {
	struct accessed_name at, caller; /* words of accessed.modules; caller: 0 where not recorded, or rows are by function */
	struct accessed_code code, caller_code; /* of a call, for code without a name */
	struct allocations_sum sum;	 /* over the processes */
};

/* A process, from its begin or from an exec to its end or the next exec. */
struct allocations_process {
	uint32_t pid, program; /* program: 1 of the first one, 2 after an exec */
	struct allocations_sum sum;
	uint64_t peak_ns;
	uint64_t unmatched; /* freed blocks that it did not allocate: its parent did before a fork, or before it was recorded */
	uint64_t now_count, now_bytes; /* private */
	uint32_t version;	       /* private: how often there was a new peak */
};

enum allocations_sort { ALLOCATIONS_BYTES, ALLOCATIONS_COUNT, ALLOCATIONS_PEAK, ALLOCATIONS_LIVE, ALLOCATIONS_SORTS };

struct allocations_options {
	struct accessed_options from;
	bool by_function; /* else by source line and caller */
	enum allocations_sort sort;
};

struct allocations {
	struct accessed recording;
	struct allocations_row *row; /* the greatest first */
	size_t n;
	struct allocations_process *process; /* in the order in which they began */
	size_t processes;
	struct allocations_sum total; /* no peak where there are several processes: theirs are of different times */
	uint64_t mapped; /* mmap without a file: in no row */
	uint64_t lost;	 /* records that found no room: all numbers then lack them */
	bool damaged;
};

/* "bytes", "count", "peak", "live". */
const char *allocations_sort_name(enum allocations_sort sort);
/* -ENOENT: the recording has no file of allocations. allocations_free() after it, on failure too. */
int allocations_read(struct allocations *a, const char *path, const struct allocations_options *opts, struct tare_error *err);
void allocations_free(struct allocations *a);

#endif
