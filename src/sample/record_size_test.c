/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "tap.h"
#include "sample/record_size.h"

#define S 1000000000ull

TEST(limit)
{
	struct record_size s = { .most = 3ull << 30, .file = "perf.data", .less = "a larger -c" };
	struct text out = { 0 };

	CHECK(!record_size_enough(&s, 0, 0, 0, &out), "nothing yet");
	CHECK(!record_size_enough(&s, s.most - 1, 0, S, &out), "one byte is missing");
	CHECK(record_size_enough(&s, s.most, 0, S, &out), "that is it");
	CHECK(record_size_enough(&s, s.most + 1, 0, S, &out), "more");
	CHECK_EQ(out.len, 0, "who set a limit knows");
	text_free(&out);
}

TEST(said_once)
{
	struct record_size s = { .file = "a\x1b"
					 "b",
				 .less = "a larger -c" };
	struct text out = { 0 };

	CHECK(!record_size_enough(&s, (1ull << 30) - 1, 0, 100 * S, &out) && !out.len, "below");
	CHECK(!record_size_enough(&s, 1ull << 30, 0, 100 * S, &out), "no limit");
	CHECK(out.s &&
		      !strcmp(out.s,
			      "a\\x1bb has 1024 MiB after 100 s, 10.2 MiB/s, and grows: a larger -c takes fewer samples, "
			      "--max-size SIZE limits it\n"),
	      "%s", out.s ? out.s : "");
	text_free(&out);
	out = (struct text){ 0 };
	CHECK(!record_size_enough(&s, 5ull << 30, 0, 200 * S, &out) && !out.len, "once");
	text_free(&out);
}

/* Both files count. */
TEST(blocks_beside)
{
	struct record_size s = { .file = "perf.data", .less = "a larger -c" },
			   limit = { .most = 1000 };
	struct text out = { 0 };

	CHECK(!record_size_enough(&s, 256 << 20, (768 << 20) - 1, 100 * S, &out) && !out.len,
	      "below");
	CHECK(!record_size_enough(&s, 256 << 20, 768 << 20, 100 * S, &out), "no limit");
	CHECK(out.s &&
		      !strcmp(out.s,
			      "perf.data has 256 MiB, and its allocations (--alloc) 768 MiB, after 100 s, 10.2 MiB/s, and grows: a larger -c takes "
			      "fewer samples, --max-size SIZE limits it\n"),
	      "%s", out.s ? out.s : "");
	CHECK(!record_size_enough(&limit, 500, 499, S, &out), "one byte is missing");
	CHECK(record_size_enough(&limit, 500, 500, S, &out), "that is it");
	text_free(&out);
}

/* Output piped to another program is not kept here. */
TEST(pipe_says_nothing)
{
	struct record_size s = { .less = "a larger -c" };
	struct text out = { 0 };

	CHECK(!record_size_enough(&s, 8ull << 30, 0, S, &out) && !out.len, "nothing");
	text_free(&out);
}

TEST_MAIN()
