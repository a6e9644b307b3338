/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include "base/array.h"
#include "tap.h"

/* Under a sanitizer too much memory is refused as without one, and does not end the program. */
#define REFUSES_MEMORY __attribute__((visibility("default"), used))
const char *__asan_default_options(void);
const char *__tsan_default_options(void);

REFUSES_MEMORY const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

REFUSES_MEMORY const char *__tsan_default_options(void)
{
	return "allocator_may_return_null=1";
}

TEST(a_reserved_array_keeps_its_members_and_grows_geometrically)
{
	uint32_t *a = NULL;
	size_t room = 0, grown = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		size_t before = room;

		CHECK(array_reserve(&a, &room, i + 1, sizeof(*a)), "room for %u", i + 1);
		if (room != before) {
			grown++;
			CHECK(room >= i + 1 && room >= before + before / 2, "from %zu to %zu",
			      before, room);
		}
		a[i] = i;
	}
	for (uint32_t i = 0; i < 100000; i++)
		if (a[i] != i)
			CHECK(false, "member %u is %u", i, a[i]);
	CHECK(grown < 30, "grown %zu times", grown);

	uint32_t *same = a;
	size_t before = room;

	CHECK(array_reserve(&a, &room, 7, sizeof(*a)) && a == same && room == before,
	      "nothing to do");
	CHECK(array_reserve(&a, &room, 1000000, sizeof(*a)) && room >= 1000000,
	      "far more than by half");
	free(a);
}

TEST(an_array_that_cannot_grow_is_unchanged)
{
	uint64_t *a = NULL, *same;
	size_t room = 0;

	CHECK(array_reserve(&a, &room, 3, sizeof(*a)), "three");
	same = a;
	a[2] = 5;

	size_t before = room;

	CHECK(!array_reserve(&a, &room, SIZE_MAX / 8 + 1, sizeof(*a)), "more bytes than SIZE_MAX");
	CHECK(!array_reserve(&a, &room, SIZE_MAX / 16, sizeof(*a)), "more bytes than there are");
	CHECK(!array_reserve_zeroed(&a, &room, SIZE_MAX / 16, sizeof(*a)), "the same, zeroed");
	CHECK(!array_one_more(&a, (SIZE_MAX >> 1) + 1, 1), "room for more members than SIZE_MAX");
	CHECK(!array_one_more(&a, (size_t)1 << 62, sizeof(*a)), "the same in bytes");
	CHECK(a == same && room == before && a[2] == 5, "as before");
	free(a);

	size_t full = SIZE_MAX - 1;

	a = NULL;
	CHECK(!array_reserve(&a, &full, SIZE_MAX, 1), "a room that cannot grow by half");
	CHECK(!a && full == SIZE_MAX - 1, "as before");
}

TEST(what_is_added_is_zeroed)
{
	unsigned char *a = NULL;
	size_t room = 0, before;

	CHECK(array_reserve_zeroed(&a, &room, 100, 1), "a hundred");
	for (size_t i = 0; i < room; i++) {
		CHECK_EQ(a[i], 0, "byte %zu", i);
		a[i] = 1;
	}
	before = room;
	CHECK(array_reserve_zeroed(&a, &room, 10 * before, 1), "more");
	for (size_t i = 0; i < room; i++)
		if (a[i] != (i < before))
			CHECK(false, "byte %zu is %d", i, a[i]);
	free(a);
}

TEST(an_array_without_a_room_has_it_by_its_number_of_members)
{
	struct {
		uint64_t a, b;
	} *p = NULL;
	size_t n = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		CHECK(array_one_more(&p, n, sizeof(*p)), "member %d", (int)i);
		p[n].a = i;
		p[n++].b = ~i;
		if (i % 3 == 2) /* the last goes again */
			n--;
	}
	CHECK_EQ(n, 667u, "members");
	for (size_t i = 0; i < n; i++)
		if (p[i].a != ~p[i].b || p[i].a != i / 2 * 3 + i % 2)
			CHECK(false, "member %zu is %d", i, (int)p[i].a);
	free(p);
}

TEST(the_members_up_to_a_value_by_any_of_their_keys)
{
	const struct {
		const char *name;
		uint64_t start, end;
	} a[] = { { "x", 10, 19 }, { "y", 20, 29 }, { "z", 20, 30 }, { "w", UINT64_MAX, 0 } };
	const uint64_t plain[] = { 1, 5, 5, 9 };

	CHECK_EQ(ARRAY_UPTO(a, 4, start, 9), 0u, "below all");
	CHECK_EQ(ARRAY_UPTO(a, 4, start, 10), 1u, "equal");
	CHECK_EQ(ARRAY_UPTO(a, 4, start, 20), 3u, "the last of two that are equal");
	CHECK_EQ(ARRAY_UPTO(a, 4, start, UINT64_MAX), 4u, "all");
	CHECK_EQ(ARRAY_UPTO(a, 3, end, 29), 2u, "by another key");
	CHECK_EQ(ARRAY_UPTO(a, 0, start, 20), 0u, "none");
	CHECK_EQ(array_upto(plain, 4, sizeof(*plain), 0, 5), 3u, "of plain numbers");
}

TEST_MAIN()
