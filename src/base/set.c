/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include "base/array.h"
#include "base/set.h"

enum { BITS_LEAST = 6, BITS_MOST = 31 };

static bool rehash(struct set *s, unsigned bits, size_t each, size_t key)
{
	uint32_t mask = (uint32_t)(((uint64_t)1 << bits) - 1);
	uint32_t *slot = bits <= BITS_MOST ? calloc((size_t)1 << bits, sizeof(*slot)) : NULL;

	if (!slot)
		return false;
	for (size_t i = 0; i < s->n; i++) {
		uint32_t at = (uint32_t)(set_hash((char *)s->item + i * each, key) >> 16) & mask;

		while (slot[at])
			at = (at + 1) & mask;
		slot[at] = (uint32_t)i + 1;
	}
	free(s->slot);
	s->slot = slot;
	s->bits = bits;
	return true;
}

bool set_grow(struct set *s, size_t each, size_t key)
{
	if (!array_reserve(&s->item, &s->room, s->n + 1, each))
		return false;
	if (s->slot && 3 * s->n < 2ull << s->bits)
		return true;
	return rehash(s, s->slot ? s->bits + 1 : BITS_LEAST, each, key);
}

void set_free(struct set *s)
{
	free(s->item);
	free(s->slot);
	*s = (struct set){ 0 };
}
