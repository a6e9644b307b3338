/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/words.h"

enum { CHUNK_BYTES = 64 << 10, BITS_LEAST = 6, BITS_MOST = 31 };

struct chunk {
	struct chunk *older;
	size_t used, room;
	char bytes[];
};

static uint32_t hash_of(const char *s, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++) {
		h = (h ^ (unsigned char)s[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	return (uint32_t)(h >> 16);
}

static char *keep(struct words *t, const char *s, size_t n)
{
	struct chunk *c = t->chunk;
	char *to;

	if (!c || c->room - c->used < n + 1) {
		size_t room = n + 1 > CHUNK_BYTES ? n + 1 : CHUNK_BYTES;

		c = malloc(sizeof(*c) + room);
		if (!c)
			return NULL;
		*c = (struct chunk){ t->chunk, 0, room };
		t->chunk = c;
		t->held += sizeof(*c) + room;
	}
	to = c->bytes + c->used;
	memcpy(to, s, n);
	to[n] = '\0';
	c->used += n + 1;
	return to;
}

static bool grow(struct words *t)
{
	if (!array_reserve(&t->word, &t->room, t->n + 1, sizeof(*t->word)))
		return false;
	if (t->slot && 3 * t->n < 2ull << t->bits)
		return true;

	unsigned bits = t->slot ? t->bits + 1 : BITS_LEAST;
	uint32_t mask = (uint32_t)(((uint64_t)1 << bits) - 1);
	uint32_t *slot = bits <= BITS_MOST ? calloc((size_t)1 << bits, sizeof(*slot)) : NULL;

	if (!slot)
		return false;
	for (size_t i = 0; i < t->n; i++) {
		uint32_t at = t->word[i].hash & mask;

		while (slot[at])
			at = (at + 1) & mask;
		slot[at] = (uint32_t)i + 1;
	}
	free(t->slot);
	t->slot = slot;
	t->bits = bits;
	return true;
}

static uint32_t add_word(struct words *t, const char *s, size_t n)
{
	uint32_t hash = hash_of(s, n), mask, at;
	char *kept;

	if (!grow(t))
		return WORDS_NONE;
	mask = (uint32_t)(((uint64_t)1 << t->bits) - 1);
	for (at = hash & mask; t->slot[at]; at = (at + 1) & mask) {
		const struct word *e = &t->word[t->slot[at] - 1];

		if (e->hash == hash && e->len == n && !memcmp(e->s, s, n))
			return t->slot[at] - 1;
	}
	kept = keep(t, s, n);
	if (!kept)
		return WORDS_NONE;
	t->word[t->n] = (struct word){ kept, hash, (uint32_t)n };
	t->slot[at] = (uint32_t)++t->n;
	return (uint32_t)(t->n - 1);
}

uint32_t words_add(struct words *t, const char *s, size_t n)
{
	n = strnlen(s, n < UINT32_MAX ? n : UINT32_MAX - 1);
	if (t->n == 0 && add_word(t, "", 0) == WORDS_NONE)
		return WORDS_NONE;
	return add_word(t, s, n);
}

const char *words_at(const struct words *t, uint32_t number)
{
	return number < t->n ? t->word[number].s : "";
}

void words_free(struct words *t)
{
	for (struct chunk *c = t->chunk, *older; c; c = older) {
		older = c->older;
		free(c);
	}
	free(t->word);
	free(t->slot);
	*t = (struct words){ 0 };
}
