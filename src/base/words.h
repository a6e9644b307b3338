/* SPDX-License-Identifier: MIT */
/* Strings, each stored once and identified by its number; number 0 is "". Zero-initialise. */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include <stddef.h>
#include <stdint.h>

enum { WORDS_NONE = UINT32_MAX };

struct word {
	const char *s;
	uint32_t hash, len;
};

struct words {
	struct word *word;
	size_t n, room;
	uint32_t *slot; /* number + 1 */
	unsigned bits;
	void *chunk; /* the newest block of strings */
	size_t held; /* total bytes of the strings */
};

/* The number of the n bytes at s, or up to a NUL; WORDS_NONE when out of memory. */
uint32_t words_add(struct words *t, const char *s, size_t n);
/* NUL-terminated, valid until words_free(). "" for unused numbers. */
const char *words_at(const struct words *t, uint32_t number);
/* The memory used. */
static inline size_t words_memory(const struct words *t)
{
	return t->held + t->room * sizeof(*t->word) + (t->slot ? sizeof(*t->slot) << t->bits : 0);
}

void words_free(struct words *t);

#endif
