/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "profile/chains.h"
#include "base/set.h"

struct chain *chains_at(struct chains *c, const struct chains_key *key)
{
	const uint64_t mix = 0x9e3779b97f4a7c15ull;
	uint64_t h = key->n;

	for (int i = 0; i < CHAINS_HEAD; i++)
		h = (h ^ key->head[i]) * mix;
	h ^= h >> 32;
	for (uint64_t i = 0; i < key->n; i++)
		h = (h ^ key->chain[i]) * mix;
	return &c->slot[h >> (64 - CHAINS_BITS)];
}

uint32_t chains_node(const struct chain *at, const struct chains_key *key)
{
	if (at->n != key->n + CHAINS_HEAD || memcmp(at->word, key->head, sizeof(key->head)) != 0 ||
	    (key->n &&
	     memcmp(at->word + CHAINS_HEAD, key->chain, key->n * sizeof(*key->chain)) != 0))
		return SET_NONE;
	return at->node;
}

void chains_keep(struct chain *at, const struct chains_key *key, uint32_t node)
{
	uint32_t n = (uint32_t)key->n + CHAINS_HEAD;

	if (key->n > CHAINS_MOST - CHAINS_HEAD)
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
		memcpy(at->word + CHAINS_HEAD, key->chain, key->n * sizeof(*key->chain));
	at->n = n;
	at->node = node;
}

void chains_free(struct chains *c)
{
	for (size_t i = 0; i < sizeof(c->slot) / sizeof(*c->slot); i++)
		free(c->slot[i].word);
	*c = (struct chains){ 0 };
}
