/* SPDX-License-Identifier: MIT */
/*
 * The shared lines of a recording with names: the object that a line belongs to, and the code that
 * accesses it.
 */
#ifndef MEMORY_SHARING_SHARING_NAMED_H
#define MEMORY_SHARING_SHARING_NAMED_H

#include "memory/memory_samples.h"
#include "memory/sharing/sharing.h"

struct sharing_named_line {
	const struct sharing_line *line;
	/* from memory_samples_object_at(); SET_NONE: no access had a virtual address */
	uint32_t object;
	uint64_t offset; /* offset of the line's first byte in the object */
	uint32_t group;  /* number */
	/*
	 * If the threads' bytes are next to each other, the alignment that would separate them all:
	 * the number of members to align to the line size (`aligned` of the cells), and the word of
	 * the member that stays in the line. 0: none is known.
	 */
	uint32_t cuts, keeps;
};

/* The lines of one object that have the same verdict, summed. */
struct sharing_group {
	uint32_t object; /* SET_NONE: a single line */
	enum sharing_verdict verdict;
	size_t first; /* the number of its most contended line */
	uint64_t lines, samples, loads, stores, hitm, switches_true, switches_false;
};

struct sharing_named {
	struct memory_samples *of;
	struct sharing *s;
	struct sharing_named_line *line;
	size_t n;
	struct sharing_group *group;
	size_t groups;                    /* in order of their first lines */
	struct memory_samples_name *name; /* by number of cell */
	uint32_t *
		/*
		 * likewise: a word, "stats.hits", the variable and member of the cell, or
		 * "stats.hits..stats.more"; 0: no variable
		 */
		field;
	uint32_t *
		/*
		 * likewise: a word, the member where a thread's bytes begin and that alignment
		 * would move to its own line; 0: none
		 */
		aligned;
	uint64_t no_accesses; /* samples of operations that access no memory */
	unsigned origins;     /* bit by enum tare_access_origin */
};

/*
 * The owner of the bytes at an offset: one thread, except for a tenth of the accesses; or none,
 * as they are only read.
 */
struct sharing_owner {
	size_t cells; /* number of cells, starting with the first */
	unsigned threads;
	uint32_t tid; /* the most frequent thread */
	uint64_t hits, his, stores;
	bool one, read;
};
/* For the cells at the offset of the first one; `n` cells in order. */
struct sharing_owner sharing_owner(const struct sharing_cell *cell, size_t n);

/*
 * Reads all accesses of `c`. Free with sharing_named_free(), also on failure; `c` must outlive it.
 */
int sharing_named_read(struct sharing_named *n, struct memory_samples *c,
		       const struct sharing_options *opts, struct tare_error *err);
void sharing_named_free(struct sharing_named *n);

#endif
