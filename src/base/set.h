/* SPDX-License-Identifier: MIT */
/*
 * Items of one size, each stored once and identified by its number: 0, 1, 2... in the order of
 * insertion. Two items are the same if their first `key` bytes are equal; the caller may change the
 * bytes after them. Zero-initialise; set_free() when done.
 *
 * Insertion is in the header, so that the compiler knows the sizes: profiles do it millions of
 * times.
 */
#ifndef BASE_SET_H
#define BASE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SET_NONE = UINT32_MAX };

struct set {
	void *item;
	size_t n, room;
	uint32_t *slot; /* number + 1; 0: free */
	unsigned bits;
};

/* Make room for one more item of `each` bytes; false when out of memory or numbers. */
bool set_grow(struct set *s, size_t each, size_t key);
void set_free(struct set *s);

/* The memory used, with items of `each` bytes. */
static inline size_t set_memory(const struct set *s, size_t each)
{
	return s->room * each + (s->slot ? sizeof(*s->slot) << s->bits : 0);
}

/* Keys are whole 32-bit words, without padding between members. They are read two at a time. */
static inline uint64_t set_hash(const void *key, size_t n)
{
	const uint64_t mix = 0x9e3779b97f4a7c15ull;
	uint64_t h = n, two;
	uint32_t one;
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		memcpy(&two, (const char *)key + i, 8);
		h = (h ^ two) * mix;
		h ^= h >> 32;
	}
	if (i + 4 <= n) {
		memcpy(&one, (const char *)key + i, 4);
		h = (h ^ one) * mix;
		h ^= h >> 32;
	}
	return h;
}

/*
 * The number of the item equal to `item`, which is inserted if there is none: then *fresh is set
 * (it may be NULL). SET_NONE when out of memory; then nothing has changed.
 */
static inline uint32_t set_add(struct set *s, const void *item, size_t each, size_t key,
			       bool *fresh)
{
	if (fresh)
		*fresh = false;
	if (__builtin_expect(s->n == s->room || 3 * s->n >= 2ull << s->bits, 0) &&
	    !set_grow(s, each, key))
		return SET_NONE;

	uint32_t mask = (uint32_t)(((uint64_t)1 << s->bits) - 1);
	uint32_t at = (uint32_t)(set_hash(item, key) >> 16) & mask;

	for (; s->slot[at]; at = (at + 1) & mask)
		if (!memcmp((char *)s->item + (s->slot[at] - 1) * each, item, key))
			return s->slot[at] - 1;
	memcpy((char *)s->item + s->n * each, item, each);
	s->slot[at] = (uint32_t)++s->n;
	if (fresh)
		*fresh = true;
	return (uint32_t)(s->n - 1);
}

/*
 * To look up many items in a large set: first call set_coming() for all, then set_close() for all,
 * then look up each one. This overlaps their cache misses.
 */
static inline void set_coming(const struct set *s, const void *item, size_t key)
{
	if (s->slot)
		__builtin_prefetch(&s->slot[(uint32_t)(set_hash(item, key) >> 16) &
					    (uint32_t)(((uint64_t)1 << s->bits) - 1)]);
}

static inline void set_close(const struct set *s, const void *item, size_t each, size_t key)
{
	uint32_t number = s->slot ? s->slot[(uint32_t)(set_hash(item, key) >> 16) &
					    (uint32_t)(((uint64_t)1 << s->bits) - 1)]
				  : 0;

	if (number)
		__builtin_prefetch((char *)s->item + (number - 1) * each);
}

/* set_add() without insertion. */
static inline uint32_t set_find(const struct set *s, const void *item, size_t each, size_t key)
{
	if (!s->slot)
		return SET_NONE;

	uint32_t mask = (uint32_t)(((uint64_t)1 << s->bits) - 1);

	for (uint32_t at = (uint32_t)(set_hash(item, key) >> 16) & mask; s->slot[at];
	     at = (at + 1) & mask)
		if (!memcmp((char *)s->item + (s->slot[at] - 1) * each, item, key))
			return s->slot[at] - 1;
	return SET_NONE;
}

#endif
