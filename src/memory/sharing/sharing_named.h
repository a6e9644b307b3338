/* SPDX-License-Identifier: MIT */
/* The shared lines of a recording with names: which object a line is of, which code accesses it. */
#ifndef MEMORY_SHARING_SHARING_NAMED_H
#define MEMORY_SHARING_SHARING_NAMED_H

#include "memory/accessed.h"
#include "memory/sharing/sharing.h"

struct sharing_named_line {
	const struct sharing_line *line;
	uint32_t object; /* of accessed_object_at(); SET_NONE: no access told a virtual address */
	uint64_t offset; /* of the line's first byte in it */
	uint32_t group;	 /* number */
	/* Where its threads' bytes lie one after another, and that would part them all: how many members, each aligned to the line's size (`aligned` of
	 * the cells), and the word of the one that keeps the line. 0: no such is known. */
	uint32_t cuts, keeps;
};

/* The lines of one object that have one verdict, added up. */
struct sharing_group {
	uint32_t object; /* SET_NONE: a line by itself */
	enum sharing_verdict verdict;
	size_t first; /* the number of its line that moves most */
	uint64_t lines, samples, loads, stores, modified, switches_true, switches_false;
};

struct sharing_named {
	struct accessed *of;
	struct sharing *s;
	struct sharing_named_line *line;
	size_t n;
	struct sharing_group *group;
	size_t groups; /* in the order of their first lines */
	struct accessed_name *name; /* by number of cell */
	uint32_t *field; /* likewise: a word, "stats.hits", the variable and its part that the cell lies in, or "stats.hits..stats.more"; 0: no variable */
	uint32_t *aligned; /* likewise: a word, the member that begins a thread's bytes here and would begin a line of its own; 0: none */
	uint64_t no_accesses;	    /* samples of operations that access no memory */
	unsigned origins;	    /* bit by enum tare_access_origin */
};

/* Whose the bytes are that begin at an offset: one thread's, but for a tenth; or nobody takes them from another, as they are only read. */
struct sharing_owner {
	size_t cells; /* that many, from the first on */
	unsigned threads;
	uint32_t tid; /* the most frequent */
	uint64_t hits, his, stores;
	bool one, read;
};
/* Of the cells of the first one's offset, of `n` in order. */
struct sharing_owner sharing_owner(const struct sharing_cell *cell, size_t n);

/* Read all accesses of `c`. Free with sharing_named_free(), on failure too; `c` must live as long. */
int sharing_named_read(struct sharing_named *n, struct accessed *c, const struct sharing_options *opts, struct tare_error *err);
void sharing_named_free(struct sharing_named *n);

#endif
