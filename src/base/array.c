/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"

enum { LEAST = 4 };

static bool resize(void *array, size_t room, size_t each)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(room, each, &bytes))
		return false;
	memcpy(&p, array, sizeof(p)); /* not *(void **)array: the pointer has another type */
	p = realloc(p, bytes ? bytes : 1);
	if (!p)
		return false;
	memcpy(array, &p, sizeof(p));
	return true;
}

bool array_grow(void *array, size_t *room, size_t need, size_t each)
{
	size_t more;

	if (need <= *room)
		return true;
	if (__builtin_add_overflow(*room, *room / 2 + 2 * LEAST, &more) || more < need)
		more = need;
	if (!resize(array, more, each))
		return false;
	*room = more;
	return true;
}

bool array_grow_zeroed(void *array, size_t *room, size_t need, size_t each)
{
	size_t before = *room;
	char *p;

	if (!array_grow(array, room, need, each))
		return false;
	memcpy(&p, array, sizeof(p));
	memset(p + before * each, 0, (*room - before) * each);
	return true;
}

bool array_one_more(void *array, size_t n, size_t each)
{
	if (n == 0)
		return resize(array, LEAST, each);
	if (n < LEAST || n & (n - 1))
		return true;
	return n <= SIZE_MAX / 2 && resize(array, 2 * n, each);
}
