/* SPDX-License-Identifier: MIT */
/* Overlapping mappings, forks and execs. */
#include "symbols/address_spaces.h"
#include "tap.h"

static void map(struct address_spaces *s, uint32_t pid, uint64_t start, uint64_t len,
		uint64_t offset, uint32_t module)
{
	struct map m = { start, start + len - 1, offset, module, 0 };

	CHECK_EQ(address_spaces_map(s, pid, &m, NULL), 0, "map");
}

/* module * 0x1000000 + offset; -1: not mapped */
static int64_t at(struct address_spaces *s, uint32_t pid, uint64_t address)
{
	const struct maps *m = address_spaces_of(s, pid);
	const struct map *found = m ? maps_find(m, address) : NULL;

	return found
		? (int64_t)(found->module * 0x1000000ull + address - found->start + found->offset)
		: -1;
}

TEST(a_mapping_takes_the_place_of_what_it_covers)
{
	struct address_spaces s = { 0 };

	map(&s, 1, 0x1000, 0x4000, 0, 1);
	CHECK_EQ(at(&s, 1, 0xfff), -1, "before");
	CHECK_EQ(at(&s, 1, 0x1000), 0x1000000, "first byte");
	CHECK_EQ(at(&s, 1, 0x4fff), 0x1003fff, "last byte");
	CHECK_EQ(at(&s, 1, 0x5000), -1, "after");
	map(&s, 1, 0x2000, 0x1000, 0x500, 2);
	CHECK_EQ(at(&s, 1, 0x1fff), 0x1000fff, "the rest before it");
	CHECK_EQ(at(&s, 1, 0x2000), 0x2000500, "the new one");
	CHECK_EQ(at(&s, 1, 0x2fff), 0x20014ff, "the new one's end");
	CHECK_EQ(at(&s, 1, 0x3000), 0x1002000, "the rest after it keeps its file offset");
	CHECK_EQ(address_spaces_of(&s, 1)->n, (size_t)3, "three now");
	map(&s, 1, 0x1800, 0x3000, 0, 3);
	CHECK_EQ(at(&s, 1, 0x17ff), 0x10007ff, "cut");
	CHECK_EQ(at(&s, 1, 0x2800), 0x3001000, "covered whole");
	CHECK_EQ(at(&s, 1, 0x4800), 0x1003800, "cut from the front");
	CHECK_EQ(address_spaces_of(&s, 1)->n, (size_t)3, "three again");
	map(&s, 1, 0, 0x100000, 0, 4);
	CHECK_EQ(address_spaces_of(&s, 1)->n, (size_t)1, "one over all");
	CHECK_EQ(at(&s, 2, 0x1000), -1, "another process has none");
	address_spaces_free(&s);
}

TEST(the_ends_of_the_address_space)
{
	struct address_spaces s = { 0 };
	struct map all = { 0, UINT64_MAX, 0, 1, 0 },
		   last = { UINT64_MAX - 0xfff, UINT64_MAX, 0, 2, 0 }, wrong = { 10, 9, 0, 3, 0 };

	CHECK_EQ(address_spaces_map(&s, 1, &all, NULL), 0, "all");
	CHECK_EQ(address_spaces_map(&s, 1, &last, NULL), 0, "the last page");
	CHECK_EQ(address_spaces_map(&s, 1, &wrong, NULL), 0, "an empty one changes nothing");
	CHECK_EQ(at(&s, 1, UINT64_MAX), 0x2000fff, "the last byte");
	CHECK_EQ(address_spaces_of(&s, 1)->n, (size_t)2, "two");
	address_spaces_free(&s);
}

TEST(a_fork_inherits_and_changes_its_own)
{
	struct address_spaces s = { 0 };
	uint32_t serial;

	map(&s, 1, 0x1000, 0x1000, 0, 1);
	CHECK_EQ(address_spaces_fork(&s, 2, 1, NULL), 0, "fork");
	CHECK(address_spaces_of(&s, 1) == address_spaces_of(&s, 2), "shared");
	serial = address_spaces_of(&s, 1)->serial;
	map(&s, 2, 0x1000, 0x1000, 0, 5);
	CHECK_EQ(at(&s, 2, 0x1000), 0x5000000, "the child's");
	CHECK_EQ(at(&s, 1, 0x1000), 0x1000000, "the parent's is as it was");
	CHECK_EQ(address_spaces_of(&s, 1)->serial, serial, "and unchanged");
	CHECK(address_spaces_of(&s, 2)->serial != serial, "the child's has changed");
	CHECK_EQ(address_spaces_fork(&s, 1, 1, NULL), 0, "a thread");
	CHECK_EQ(at(&s, 1, 0x1000), 0x1000000, "shares all");
	CHECK_EQ(address_spaces_fork(&s, 3, 99, NULL), 0, "of a parent that nothing is known of");
	CHECK_EQ(at(&s, 3, 0x1000), -1, "nothing");
	CHECK_EQ(address_spaces_fork(&s, 2, 1, NULL), 0, "the number is used again");
	CHECK_EQ(at(&s, 2, 0x1000), 0x1000000, "as its parent");
	address_spaces_exec(&s, 2);
	CHECK_EQ(at(&s, 2, 0x1000), -1, "exec removes all");
	CHECK_EQ(at(&s, 1, 0x1000), 0x1000000, "for itself only");
	address_spaces_exec(&s, 77);
	address_spaces_free(&s);
}

TEST_MAIN()
