/* SPDX-License-Identifier: MIT */
/* Items and strings that are stored once. */
#include "base/words.h"
#include "base/set.h"
#include "tap.h"

struct thing {
	uint32_t a, b;
	uint64_t payload;
};

static uint32_t add_thing(struct set *s, uint32_t a, uint32_t b, uint64_t payload, bool *fresh)
{
	struct thing t = { a, b, payload };

	return set_add(s, &t, sizeof(t), 8, fresh);
}

TEST(a_set_numbers_things_in_their_order)
{
	struct set s = { 0 };
	bool fresh;

	CHECK_EQ(add_thing(&s, 1, 2, 10, &fresh), 0u, "first");
	CHECK(fresh, "the first is new");
	CHECK_EQ(add_thing(&s, 2, 1, 11, &fresh), 1u, "second");
	CHECK_EQ(add_thing(&s, 1, 2, 99, &fresh), 0u, "the first again");
	CHECK(!fresh, "again");
	CHECK_EQ(((struct thing *)s.item)[0].payload, 10u, "bytes after the key are kept");
	set_free(&s);
}

TEST(a_set_finds_each_of_many)
{
	struct set s = { 0 };

	for (uint32_t i = 0; i < 100000; i++)
		if (add_thing(&s, i % 317, i / 317 * 65536, i, NULL) != i)
			CHECK(false, "adding %u", i);
	for (uint32_t i = 0; i < 100000; i++) {
		struct thing t = { i % 317, i / 317 * 65536, 0 };

		if (set_find(&s, &t, sizeof(t), 8) != i)
			CHECK(false, "finding %u", i);
	}
	struct thing none = { 400, 0, 0 };

	CHECK_EQ(set_find(&s, &none, sizeof(none), 8), (uint32_t)SET_NONE, "a missing item");
	set_free(&s);
	CHECK_EQ(set_find(&s, &none, sizeof(none), 8), (uint32_t)SET_NONE, "in an empty one");
}

TEST(names_are_kept_once_and_stay_where_they_are)
{
	struct words t = { 0 };
	uint32_t first = words_add(&t, "main", 4);
	const char *at = words_at(&t, first);
	char word[32];

	CHECK_EQ(first, 1u, "after the empty one");
	for (int i = 0; i < 50000; i++) {
		int n = snprintf(word, sizeof(word), "name %d", i);

		if (words_add(&t, word, (size_t)n) != (uint32_t)i + 2)
			CHECK(false, "%s", word);
	}
	CHECK_EQ(words_add(&t, "main of all", 4), first, "by its length");
	CHECK_EQ(words_add(&t, "", 0), 0u, "the empty one");
	CHECK_EQ(words_add(&t, "main\0x", 6), first, "up to a 0");
	CHECK(words_at(&t, first) == at && !strcmp(at, "main"), "it has not moved");
	CHECK(!strcmp(words_at(&t, 40001), "name 39999"), "one of many");
	CHECK(!strcmp(words_at(&t, 1u << 30), ""), "a number that was not given out");
	words_free(&t);
}

TEST(a_name_of_a_megabyte)
{
	struct words t = { 0 };
	char *s = malloc(1 << 20);

	memset(s, 'x', 1 << 20);
	CHECK_EQ(words_add(&t, s, 1 << 20), 1u, "long");
	CHECK_EQ(words_add(&t, s, (1 << 20) - 1), 2u, "one shorter");
	CHECK_EQ(words_add(&t, s, 1 << 20), 1u, "again");
	CHECK_EQ(strlen(words_at(&t, 1)), (size_t)1 << 20, "its length");
	words_free(&t);
	free(s);
}

TEST_MAIN()
