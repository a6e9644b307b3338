/* SPDX-License-Identifier: MIT */
/*
 * A cache of call chains that are already in the tree of stacks: programs repeat the same chains,
 * and a hit saves the lookup of each frame. A hash table with one slot per hash; a chain matches
 * only if all of its words are equal. Zero-initialise; callchain_cache_free() when done.
 */
#ifndef PROFILE_CALLCHAIN_CACHE_H
#define PROFILE_CALLCHAIN_CACHE_H

#include <stdint.h>

enum {
	CALLCHAIN_CACHE_BITS = 12,
	CALLCHAIN_CACHE_HEAD = 4,
	/* most words of a cached chain, and 4 MiB for all; longer chains are not cached */
	CALLCHAIN_CACHE_MOST = 128,
};

struct callchain_cache {
	struct chain {
		uint64_t *word; /* head, then chain */
		uint32_t n, room, node;
	} slot[1 << CALLCHAIN_CACHE_BITS];
};

/* The key of a chain: its context (the head) and n words of addresses. */
struct callchain_cache_key {
	uint64_t head[CALLCHAIN_CACHE_HEAD];
	const uint64_t *chain; /* may be NULL when n is 0 */
	uint64_t n;
};

/*
 * The slot of a chain, for callchain_cache_node() and callchain_cache_keep(). Costs about 4
 * instructions per word.
 */
struct chain *callchain_cache_at(struct callchain_cache *c, const struct callchain_cache_key *key);
/* The node of the cached chain; SET_NONE if the slot holds another chain. */
uint32_t callchain_cache_node(const struct chain *at, const struct callchain_cache_key *key);
/* Caches the chain, replacing the slot's previous one; does nothing when out of memory. */
void callchain_cache_keep(struct chain *at, const struct callchain_cache_key *key, uint32_t node);
void callchain_cache_free(struct callchain_cache *c);

#endif
