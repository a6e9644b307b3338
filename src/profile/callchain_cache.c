/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "profile/callchain_cache.h"
#include "base/set.h"

struct chain *callchain_cache_at(struct callchain_cache *c, const struct callchain_cache_key *key)
{
	const uint64_t mix = 0x9e3779b97f4a7c15ull;
	uint64_t h = key->n;

	for (int i = 0; i < CALLCHAIN_CACHE_HEAD; i++)
		h = (h ^ key->head[i]) * mix;
	h ^= h >> 32;
	for (uint64_t i = 0; i < key->n; i++)
		h = (h ^ key->chain[i]) * mix;
	return &c->slot[h >> (64 - CALLCHAIN_CACHE_BITS)];
}

uint32_t callchain_cache_node(const struct chain *at, const struct callchain_cache_key *key)
{
	if (at->n != key->n + CALLCHAIN_CACHE_HEAD ||
	    memcmp(at->word, key->head, sizeof(key->head)) != 0 ||
	    (key->n &&
	     memcmp(at->word + CALLCHAIN_CACHE_HEAD, key->chain, key->n * sizeof(*key->chain)) !=
		     0))
		return SET_NONE;
	return at->node;
}

void callchain_cache_keep(struct chain *at, const struct callchain_cache_key *key, uint32_t node)
{
	uint32_t n = (uint32_t)key->n + CALLCHAIN_CACHE_HEAD;

	if (key->n > CALLCHAIN_CACHE_MOST - CALLCHAIN_CACHE_HEAD)
		return;
	if (n > at->room) {
		free(at->word);
		at->word = malloc(n * sizeof(*at->word));
		at->room = at->word ? n : 0;
		at->n = 0;
		if (!at->word)
			return;
	}
	memcpy(at->word, key->head, sizeof(key->head));
	if (key->n)
		memcpy(at->word + CALLCHAIN_CACHE_HEAD, key->chain, key->n * sizeof(*key->chain));
	at->n = n;
	at->node = node;
}

void callchain_cache_free(struct callchain_cache *c)
{
	for (size_t i = 0; i < sizeof(c->slot) / sizeof(*c->slot); i++)
		free(c->slot[i].word);
	*c = (struct callchain_cache){ 0 };
}
