/* SPDX-License-Identifier: MIT */
/* Strings, each kept once and known by its number; number 0 is "". Zero-initialise. */
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
	void *chunk; /* the newest of what holds the strings */
	size_t held; /* bytes of all of them */
};

/* The number of n bytes of s, up to a 0 among them; WORDS_NONE when out of memory. */
uint32_t words_add(struct words *t, const char *s, size_t n);
/* Terminated, and where it is until words_free(). "" for numbers that were not given out. */
const char *words_at(const struct words *t, uint32_t number);
/* The memory they take. */
static inline size_t words_memory(const struct words *t)
{
	return t->held + t->room * sizeof(*t->word) + (t->slot ? sizeof(*t->slot) << t->bits : 0);
}

void words_free(struct words *t);

#endif
