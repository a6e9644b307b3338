/* SPDX-License-Identifier: MIT */
/*
 * Call chains that were made a path in the tree of stacks before: programs come back to the same
 * ones, and then nothing has to be looked up frame by frame. A table with one place for each hash;
 * a chain is known only when all of its words are the same. Zero-initialise; chains_free() when done.
 */
#ifndef PROFILE_CHAINS_H
#define PROFILE_CHAINS_H

#include <stdint.h>

enum {
	CHAINS_BITS = 12,
	CHAINS_HEAD = 4,
	CHAINS_MOST = 128, /* words of a chain that is kept, at most 4 MiB of all; longer ones are never known */
};

struct chains {
	struct chain {
		uint64_t *word; /* head, then chain */
		uint32_t n, room, node;
	} slot[1 << CHAINS_BITS];
};

/* What tells a chain from others: where it was taken (the head) and n words of addresses. */
struct chains_key {
	uint64_t head[CHAINS_HEAD];
	const uint64_t *chain; /* may be NULL when n is 0 */
	uint64_t n;
};

/* The place of a chain, for chains_node() and chains_keep(). Costs about 4 instructions a word. */
struct chain *chains_at(struct chains *c, const struct chains_key *key);
/* The node it was kept with; SET_NONE when that place has another. */
uint32_t chains_node(const struct chain *at, const struct chains_key *key);
/* Keep it in place of the one that is there; without memory for it nothing is kept. */
void chains_keep(struct chain *at, const struct chains_key *key, uint32_t node);
void chains_free(struct chains *c);

#endif
