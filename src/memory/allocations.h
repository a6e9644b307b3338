/* SPDX-License-Identifier: MIT */
/*
 * Who allocates: the blocks that `tare record --alloc` recorded, summed by the code that allocated
 * them. All numbers are sums of recorded values; nothing is estimated. A realloc frees a block and
 * allocates one.
 */
#ifndef MEMORY_ALLOCATIONS_H
#define MEMORY_ALLOCATIONS_H

#include "memory/memory_samples.h"

struct allocations_sum {
	uint64_t count, bytes;           /* allocated */
	uint64_t freed;                  /* how many of these were freed */
	uint64_t peak_count, peak_bytes; /* live when their process had the most bytes live */
	uint64_t live_count,
		/* live at the end of the process, or when it executed another program */
		live_bytes;
	uint64_t largest; /* bytes of one block */
};

struct allocations_row {
	struct memory_samples_name at,
		/*
		 * words of memory_samples.modules; caller: 0 if not recorded, or if rows are by
		 * function
		 */
		caller;
	/* offset of a call, for code without a name */
	struct memory_samples_code code, caller_code;
	struct allocations_sum sum; /* summed over the processes */
};

/* A process, from its start or an exec to its end or the next exec. */
struct allocations_process {
	uint32_t pid, program; /* program: 1 for the first one, 2 after an exec */
	struct allocations_sum sum;
	uint64_t peak_ns;
	uint64_t
		/*
		 * frees of blocks that it did not allocate: its parent did before a fork, or before
		 * recording began
		 */
		unmatched;
	uint64_t now_count, now_bytes; /* private */
	uint32_t version;              /* private: number of new peaks */
};

enum allocations_sort {
	ALLOCATIONS_BYTES,
	ALLOCATIONS_COUNT,
	ALLOCATIONS_PEAK,
	ALLOCATIONS_LIVE,
	ALLOCATIONS_SORTS
};

struct allocations_options {
	struct memory_samples_options from;
	bool by_function; /* else by source line and caller */
	enum allocations_sort sort;
};

struct allocations {
	struct memory_samples recording;
	struct allocations_row *row; /* largest first */
	size_t n;
	struct allocations_process *process; /* in order of start */
	size_t processes;
	struct allocations_sum
		total;   /* no peak for several processes: their peaks are at different times */
	uint64_t mapped; /* anonymous mmap: in no row */
	uint64_t lost;   /* records lost for lack of room: all numbers then lack them */
	bool damaged;
};

/* "bytes", "count", "peak", "live". */
const char *allocations_sort_name(enum allocations_sort sort);
/*
 * -ENOENT: the recording has no allocation file. Call allocations_free() afterwards, also on
 * failure.
 */
int allocations_read(struct allocations *a, const char *path,
		     const struct allocations_options *opts, struct tare_error *err);
void allocations_free(struct allocations *a);

#endif
