/* SPDX-License-Identifier: MIT */
/*
 * A cache of call chains that are already in the tree of stacks: programs repeat the same chains,
 * and a hit saves the lookup of each frame. A hash table with one slot per hash; a chain matches
 * only if all of its words are equal. Zero-initialise; chains_free() when done.
 */
#ifndef PROFILE_CHAINS_H
#define PROFILE_CHAINS_H

#include <stdint.h>

enum {
	CHAINS_BITS = 12,
	CHAINS_HEAD = 4,
	/* most words of a cached chain, and 4 MiB for all; longer chains are not cached */
	CHAINS_MOST = 128,
};

struct chains {
	struct chain {
		uint64_t *word; /* head, then chain */
		uint32_t n, room, node;
	} slot[1 << CHAINS_BITS];
};

/* The key of a chain: its context (the head) and n words of addresses. */
struct chains_key {
	uint64_t head[CHAINS_HEAD];
	const uint64_t *chain; /* may be NULL when n is 0 */
	uint64_t n;
};

/* The slot of a chain, for chains_node() and chains_keep(). Costs about 4 instructions per word. */
struct chain *chains_at(struct chains *c, const struct chains_key *key);
/* The node of the cached chain; SET_NONE if the slot holds another chain. */
uint32_t chains_node(const struct chain *at, const struct chains_key *key);
/* Caches the chain, replacing the slot's previous one; does nothing when out of memory. */
void chains_keep(struct chain *at, const struct chains_key *key, uint32_t node);
void chains_free(struct chains *c);

#endif
