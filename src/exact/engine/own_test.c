/* SPDX-License-Identifier: MIT */
/* The engine's memory ranges: added in any order, found from both ends, removed. */
#include "base/error.h"
#include "exact/engine/own.c"
#include "tap.h"

struct engine eng;

enum { REFUSED = 3 };

void refuse(const char *why, uint64_t at)
{
	(void)why;
	(void)at;
	_exit(REFUSED);
}

static uint64_t first(uint64_t start, uint64_t end)
{
	const struct range *r = own_first(start, end);

	return r ? r->start : 0;
}

static uint64_t last(uint64_t start, uint64_t end)
{
	const struct range *r = own_last(start, end);

	return r ? r->start : 0;
}

TEST(found_from_both_ends)
{
	own_add(0x30000, 0x1000);
	own_add(0x10000, 0x2001); /* up to the next page */
	own_add(0x20000, 0x1000);
	CHECK_EQ(first(0, ~0ull), 0x10000, "the lowest");
	CHECK_EQ(last(0, ~0ull), 0x30000, "the highest");
	CHECK_EQ(first(0x12fff, 0x13000), 0x10000, "its last byte");
	CHECK_EQ(first(0x13000, 0x20000), 0, "between");
	CHECK_EQ(last(0x13000, 0x20000), 0, "between");
	CHECK_EQ(first(0x13000, 0x20001), 0x20000, "the next one's first byte");
	CHECK_EQ(last(0x12fff, 0x30000), 0x20000, "not the one that begins there");
	CHECK_EQ(last(0x10fff, 0x11000), 0x10000, "inside");
	CHECK_EQ(first(0x31000, ~0ull), 0, "after all ranges");
}

TEST(gone_when_removed)
{
	for (uint64_t i = 1; i <= 5; i++)
		own_add(i << 16, 0x1000);
	own_remove(0x30000);
	CHECK_EQ(eng.n_own, 4, "ranges");
	CHECK_EQ(first(0x30000, 0x31000), 0, "the removed one");
	for (uint64_t i = 1; i <= 5; i++)
		if (i != 3)
			CHECK_EQ(first(i << 16, (i << 16) + 1), i << 16, "the %d-th stays", (int)i);
	own_remove(0x30000);
	own_remove(0x10800); /* no range starts there */
	CHECK_EQ(eng.n_own, 4, "removing a range that was not added");
	own_remove(0x50000);
	CHECK_EQ(last(0, ~0ull), 0x40000, "the last one");
	own_remove(0x10000);
	CHECK_EQ(first(0, ~0ull), 0x20000, "the first one");
	own_remove(0x20000);
	own_remove(0x40000);
	CHECK_EQ(eng.n_own, 0, "all");
	CHECK_EQ(first(0, ~0ull), 0, "none");
}

/* As many ranges as fit; one more is refused, and none is lost. */
TEST(as_many_as_there_is_room_for)
{
	int status;
	pid_t pid;

	for (uint64_t i = OWN_MAX; i >= 1; i--)
		own_add(i << 16, 0x1000);
	CHECK_EQ(eng.n_own, OWN_MAX, "ranges");
	for (uint64_t i = 1; i <= OWN_MAX; i++)
		CHECK_EQ(first(i << 16, (i + 1) << 16), i << 16, "the %d-th", (int)i);
	pid = fork();
	if (pid == 0) {
		own_add(0x1000, 0x1000);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid, "wait");
	CHECK_EQ(WEXITSTATUS(status), REFUSED, "refused");
}

TEST_MAIN()
