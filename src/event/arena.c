/* SPDX-License-Identifier: MIT */
/* A chain of blocks, newest first; each is filled from its start. */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include "event/arena.h"

enum { BLOCK_BYTES = 4000 };

struct block {
	struct block *older;
	size_t used, room;
	alignas(max_align_t) char bytes[];
};

void *arena_alloc(void **arena, size_t n)
{
	struct block *b = *arena;
	size_t need = (n + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);

	if (need < n)
		return NULL;
	if (!b || b->room - b->used < need) {
		size_t room = need > BLOCK_BYTES ? need : BLOCK_BYTES;
		struct block *fresh = calloc(1, sizeof(*fresh) + room);

		if (!fresh)
			return NULL;
		fresh->older = b;
		fresh->room = room;
		*arena = b = fresh;
	}
	b->used += need;
	return b->bytes + b->used - need;
}

char *arena_string(void **arena, const char *bytes, size_t n)
{
	char *s = arena_alloc(arena, n + 1);

	if (s)
		memcpy(s, bytes, n);
	return s;
}

void arena_free(void **arena)
{
	for (struct block *b = *arena, *older; b; b = older) {
		older = b->older;
		free(b);
	}
	*arena = NULL;
}
