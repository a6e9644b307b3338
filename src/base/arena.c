/* SPDX-License-Identifier: MIT */
/* A chain of blocks, newest first; each is filled from its start. */
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"

enum { BLOCK_BYTES = 4000 };

struct block {
	struct block *older;
	size_t used, room;
	alignas(max_align_t) char bytes[];
};

/* align: a power of two, at most that of max_align_t. */
static void *take_bytes(void **arena, size_t n, size_t align)
{
	struct block *b = *arena;
	size_t begin = b ? (b->used + align - 1) & ~(align - 1) : 0;

	if (!b || begin > b->room || b->room - begin < n) {
		size_t room = n > BLOCK_BYTES ? n : BLOCK_BYTES;
		struct block *fresh = room < SIZE_MAX - sizeof(*fresh)
			? calloc(1, sizeof(*fresh) + room)
			: NULL;

		if (!fresh)
			return NULL;
		fresh->older = b;
		fresh->room = room;
		*arena = b = fresh;
		begin = 0;
	}
	b->used = begin + n;
	return b->bytes + begin;
}

void *arena_alloc(void **arena, size_t n)
{
	return take_bytes(arena, n, alignof(max_align_t));
}

char *arena_string(void **arena, const char *bytes, size_t n)
{
	char *s = n < SIZE_MAX ? take_bytes(arena, n + 1, 1) : NULL;

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
