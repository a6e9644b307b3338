/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow. `array` is the address of the pointer to the first member, of any type. The
 * pointer is NULL while there is no room; it changes when the array grows, and free() releases it.
 * Each function returns false when out of memory or when the size in bytes does not fit into a
 * size_t: the array and its room are unchanged then.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Make room for `need` members of `each` bytes. *room is the number of members that fit; it grows
 * by half at least.
 */
bool array_grow(void *array, size_t *room, size_t need, size_t each);
/* The same, and set the added bytes to 0. */
bool array_grow_zeroed(void *array, size_t *room, size_t need, size_t each);

/* The same two, where most calls find enough room. */
static inline bool array_reserve(void *array, size_t *room, size_t need, size_t each)
{
	return __builtin_expect(need <= *room, 1) || array_grow(array, room, need, each);
}

static inline bool array_reserve_zeroed(void *array, size_t *room, size_t need, size_t each)
{
	return __builtin_expect(need <= *room, 1) || array_grow_zeroed(array, room, need, each);
}

/*
 * Make room for one member more than n in an array that does not store its room: the room is 4, 8,
 * 16, ..., and follows from n. For arrays that only this function grows; members may be removed.
 */
bool array_one_more(void *array, size_t n, size_t each);

/*
 * The number of members whose key is at most `value`. The key is a uint64_t, `at` bytes from the
 * member's begin; the members are in ascending order of it.
 */
static inline size_t array_upto(const void *array, size_t n, size_t each, size_t at, uint64_t value)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		uint64_t key;

		memcpy(&key, (const char *)array + mid * each + at, sizeof(key));
		if (key <= value)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The same, for an array of structs. */
#define ARRAY_UPTO(array, n, key, value)                                                           \
	({                                                                                         \
		_Static_assert(sizeof((array)->key) == sizeof(uint64_t), "a uint64_t");            \
		array_upto(array, n, sizeof(*(array)), offsetof(typeof(*(array)), key), value);    \
	})

#endif
