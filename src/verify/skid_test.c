/* SPDX-License-Identifier: MIT */
/* Samples with planted skid, and the loops themselves in memory. */
#include <stdlib.h>
#include "verify/skid.h"
#include "exact/exact.h"
#include "tap.h"

/* Ten instructions: 3 bytes, four of 1, 5, 2, and three of 4 from byte 14 on; 26 in all. */
static const unsigned char code[26];
static struct skid_loop loop = { code, 0, { { 1, 3 }, { 4, 1 }, { 1, 5 }, { 1, 2 }, { 3, 4 } } };
static const unsigned starts[] = { 0, 3, 4, 5, 6, 7, 12, 14, 18, 22 };

static struct skid s;

static void plant(size_t cause)
{
	loop.cause = cause;
	skid_begin(&s, &loop);
}

static void samples(int64_t offset, unsigned n)
{
	while (n--)
		skid_add(&s, (uint64_t)(uintptr_t)code + (uint64_t)offset);
}

TEST(skid_of_every_instruction)
{
	for (size_t cause = 0; cause < ARRAY_SIZE(starts); cause++)
		for (size_t skid = 0; skid < ARRAY_SIZE(starts); skid++) {
			size_t at = (cause + skid) % ARRAY_SIZE(starts);
			int64_t bytes = (int64_t)starts[at] - (int64_t)starts[cause];
			bool before = skid > 8; /* of ten, the last quarter */
			struct skid_result r;

			bytes += at < cause ? 26 : 0;
			plant(cause);
			samples(starts[at], 100);
			skid_judge(&s, 0, &r);
			CHECK_EQ(r.median.instructions, before ? (int64_t)skid - 10 : (int64_t)skid,
				 "cause %zu, skid %zu", cause, skid);
			CHECK_EQ(r.median.bytes, before ? bytes - 26 : bytes, "cause %zu, skid %zu",
				 cause, skid);
			CHECK_EQ(r.least.bytes, r.most.bytes);
			CHECK_EQ(r.shape,
				 skid == 0           ? SKID_EXACT
					 : skid == 1 ? SKID_NEXT
						     : SKID_CONSTANT,
				 "cause %zu, skid %zu", cause, skid);
		}
}

/*
 * The number of samples at each distance from the cause, in instructions; the resulting verdict,
 * and the levels at which it breaks a promise.
 */
TEST(skid_shapes)
{
	static const struct {
		int line;
		struct {
			unsigned behind, n;
		} at[5];
		unsigned outside, within;
		enum skid_shape shape;
		unsigned broken; /* levels, as bits */
		int64_t least, median, p99, most;
	} rows[] = {
		{ __LINE__, { { 0, 1000 } }, 0, 0, SKID_EXACT, 0, 0, 0, 0, 0 },
		{ __LINE__, { { 0, 996 }, { 3, 4 } }, 0, 0, SKID_EXACT, 0, 0, 0, 0, 3 },
		{ __LINE__, { { 0, 994 }, { 3, 6 } }, 0, 0, SKID_SPREAD, 0xe, 0, 0, 0, 3 },
		{ __LINE__, { { 1, 1000 } }, 0, 0, SKID_NEXT, 0xc, 1, 1, 1, 1 },
		{ __LINE__, { { 4, 1000 } }, 0, 0, SKID_CONSTANT, 0xc, 4, 4, 4, 4 },
		{ __LINE__, { { 9, 1000 } }, 0, 0, SKID_CONSTANT, 0xc, -1, -1, -1, -1 },
		{ __LINE__,
		  { { 2, 500 }, { 5, 489 }, { 7, 11 } },
		  0,
		  0,
		  SKID_SPREAD,
		  0xe,
		  2,
		  5,
		  7,
		  7 },
		{ __LINE__,
		  { { 2, 500 }, { 5, 490 }, { 7, 10 } },
		  0,
		  0,
		  SKID_SPREAD,
		  0xe,
		  2,
		  5,
		  5,
		  7 },
		{ __LINE__, { { 0, 990 } }, 10, 0, SKID_SPREAD, 0xe, 0, 0, 0, 0 },
		{ __LINE__, { { 0, 990 } }, 0, 10, SKID_SPREAD, 0xe, 0, 0, 0, 0 },
		{ __LINE__, { { 0, 99 } }, 0, 0, SKID_TOO_FEW, 0, 0, 0, 0, 0 },
		{ __LINE__, { { 3, 50 } }, 0, 0, SKID_TOO_FEW, 0, 3, 3, 3, 3 },
		{ __LINE__, { { 0, 0 } }, 200, 0, SKID_CONSTANT + 1, 0xe, 0, 0, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned level = 0; level < 4; level++) {
			struct skid_result r;

			plant(8);
			for (size_t k = 0; k < ARRAY_SIZE(rows[i].at); k++)
				samples(starts[(8 + rows[i].at[k].behind) % 10], rows[i].at[k].n);
			samples(26, rows[i].outside / 2);
			samples(-1, rows[i].outside - rows[i].outside / 2);
			samples(9, rows[i].within);
			skid_judge(&s, level, &r);
			CHECK_EQ(r.shape, rows[i].shape, "row at line %d", rows[i].line);
			CHECK_EQ(r.kept, !(rows[i].broken >> level & 1), "row at line %d, level %u",
				 rows[i].line, level);
			CHECK_EQ(r.least.instructions, rows[i].least, "row at line %d",
				 rows[i].line);
			CHECK_EQ(r.median.instructions, rows[i].median, "row at line %d",
				 rows[i].line);
			CHECK_EQ(r.p99.instructions, rows[i].p99, "row at line %d", rows[i].line);
			CHECK_EQ(r.most.instructions, rows[i].most, "row at line %d", rows[i].line);
			CHECK_EQ((int)(r.off * 1000 + 0.5),
				 (int)(1000.0 * (rows[i].outside + rows[i].within) /
					       (double)s.samples +
				       0.5),
				 "row at line %d", rows[i].line);
		}
}

TEST(skid_of_nothing)
{
	struct skid_result r;

	plant(0);
	skid_judge(&s, 3, &r);
	CHECK(r.shape == SKID_TOO_FEW && r.kept && r.exact == 0 && r.off == 0);
}

TEST(skid_of_a_timer)
{
	uint64_t times[202], median, p99, most;

	for (uint64_t i = 0; i < 202; i++)
		times[i] = 77 + i * 1000 + (i > 50 ? 400 : 0) + (i > 99 ? 30 : 0) +
			(i > 150 ? 7 : 0);
	CHECK(skid_intervals(times, 202, &median, &p99, &most));
	CHECK_EQ(median, 1000);
	CHECK_EQ(p99, 1007);
	CHECK_EQ(most, 1400);
	times[0] = 5;
	times[1] = 12;
	CHECK(skid_intervals(times, 2, &median, &p99, &most));
	CHECK(median == 7 && p99 == 7 && most == 7, "one interval");
	CHECK(!skid_intervals(times, 1, &median, &p99, &most));
}

/* The loops match their description in arch/skid.h. */
TEST(skid_loops_in_memory)
{
	static uint8_t length[SKID_MOST];
	uint64_t words[64] = { 0 };

	skid_loads(64, words, 8);
	skid_branches(3);
	for (int which = 0; which < SKID_LOOPS; which++) {
		const struct skid_loop *l = skid_loop((enum skid_which)which);
		size_t n = 0, size = 0, found, at = 0;

		for (size_t i = 0; l->run[i].n; i++) {
			n += l->run[i].n;
			size += (size_t)l->run[i].n * l->run[i].bytes;
		}
		CHECK(n <= SKID_MOST && l->cause < n);
		found = exact_lengths(l->begin, size, length, SKID_MOST);
		if (!found && !HAVE_EXACT)
			tap_skip("lengths", "lengths of instructions are known on x86-64 alone");
		CHECK_EQ(found, n, "loop %d", which);
		for (size_t i = 0; l->run[i].n; i++)
			for (size_t k = 0; k < l->run[i].n; k++, at++)
				CHECK_EQ(length[at], l->run[i].bytes, "loop %d, instruction %zu",
					 which, at);
	}
}

TEST_MAIN()
