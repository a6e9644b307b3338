/* SPDX-License-Identifier: MIT */
/* Thread numbers when processes fork, execute programs and create threads. */
#include "diverge/diverge_runs.h"
#include "tap.h"

/* In the order in which they ended. Thread 0 starts process 3, which executes another program
 * with two threads, and then a third program. */
static const struct diverge_thread ended[] = {
	{ 100, 1, 0, 10, 10 }, { 101, 3, 1, 11, 11 }, { 102, 3, 2, 11, 11 }, { 104, 1, 4, 10, 12 },
	{ 103, 1, 3, 10, 10 }, { 106, 4, 6, 13, 13 }, { 105, 1, 5, 10, 10 },
};

TEST(a_program_begun_by_exec_is_the_thread_that_it_was)
{
	static const struct {
		uint64_t stable_id;
		uint32_t number;
		bool since_exec;
	} rows[] = { { 100, 1, false }, { 101, 2, false }, { 102, 2, true },  { 103, 1, true },
		     { 104, 3, false }, { 105, 1, true },  { 106, 4, false }, { 107, 0, false } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool since = !rows[i].since_exec;
		uint32_t number = diverge_number(ended, ARRAY_SIZE(ended), rows[i].stable_id,
						 &since);

		CHECK(number == rows[i].number && since == rows[i].since_exec, "%d is thread %u%s",
		      (int)rows[i].stable_id, number, since ? ", since its exec" : "");
	}
}

TEST(exec_ends_the_threads_of_the_program_before)
{
	static const struct {
		unsigned a, b;
		bool same;
	} rows[] = { { 103, 104, true },  { 100, 104, false }, { 105, 104, false },
		     { 101, 102, false }, { 100, 101, false }, { 100, 109, false },
		     { 104, 104, true } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_EQ(diverge_same_program(ended, ARRAY_SIZE(ended), rows[i].a, rows[i].b),
			 rows[i].same, "%u and %u", rows[i].a, rows[i].b);
		CHECK_EQ(diverge_same_program(ended, ARRAY_SIZE(ended), rows[i].b, rows[i].a),
			 rows[i].same, "%u and %u", rows[i].b, rows[i].a);
	}
}

/* Thread 0 makes system calls at 10, 20, 30 and 40 ns, with 100 instructions between them; the
 * rows say when the other threads live. */
TEST(which_threads_lived_at_once_with_it)
{
	static const struct {
		int line;
		uint64_t begin, end;
		int64_t low, high;
		bool same_process, there, ever;
	} rows[] = {
		{ __LINE__, 12, 35, 150, 160, true, true, true },
		{ __LINE__, 12, 15, 250, 260, true, false, true },  /* it had ended by then */
		{ __LINE__, 33, 50, 150, 160, true, false, false }, /* it began after that */
		{ __LINE__, 33, 50, 150, 310, true, true, true },
		{ __LINE__, 12, 35, 150, 160, false, false, false },
		{ __LINE__, 2, 9, 250, 260, true, false,
		  false }, /* of the program before this exec */
		{ __LINE__, 45, 50, 450, 460, true, true,
		  true }, /* after its last call: until it ends */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mark calls[] = { { 0, 10, 100 },
					{ 0, 20, 200 },
					{ 0, 30, 300 },
					{ 0, 40, 400 } },
			    first = { 0, rows[i].begin, 5 };
		const struct track track[2] = {
			{ 100, 0, calls, 4, 4, true, { 0, 60, 500 } },
			{ 101, 1, &first, 1, 1, true, { 0, rows[i].end, 50 } }
		};
		struct diverge_thread both[] = { { 100, 1, 0, 10, 10 },
						 { 101, rows[i].same_process ? 1 : 2, 1, 10, 11 } };
		struct diverge_run run = { .thread = both, .ended = 2 };
		struct pass p = { .run = &run };
		const struct divergence d = { .stable_id = 100,
					      .low = rows[i].low,
					      .high = rows[i].high };

		for (int k = 0; k < 2; k++)
			set_add(&p.tracks, &track[k], sizeof(*track), sizeof(track->stable_id),
				NULL);

		CHECK_EQ(diverge_beside(&p, &d, true), (unsigned)rows[i].there,
			 "row at line %d: there", rows[i].line);
		CHECK_EQ(diverge_beside(&p, &d, false), (unsigned)rows[i].ever,
			 "row at line %d: up to there", rows[i].line);
		set_free(&p.tracks);
	}
}

TEST(a_place_that_is_found_again)
{
	static const struct {
		int line;
		enum diverge_verdict verdict;
		uint64_t stable_id;
		int64_t low;
		size_t at;
		bool again;
	} rows[] = {
		{ __LINE__, DIVERGE_PARTED, 3, 101, 1, true },
		{ __LINE__, DIVERGE_PARTED, 3, 100, 0, true }, /* before it */
		{ __LINE__, DIVERGE_PARTED, 3, 102, 2,
		  false }, /* after it, at another instruction */
		{ __LINE__, DIVERGE_PARTED, 3, 103, 3, true }, /* at the same one, in a loop */
		{ __LINE__, DIVERGE_PARTED, 2, 101, 1, false },
		{ __LINE__, DIVERGE_MOVES, 3, 101, 1, false },
	};
	struct diverge_step step[] = { { 100, 0x10 }, { 101, 0x20 }, { 102, 0x30 }, { 103, 0x20 } };
	const struct divergence before = { .verdict = DIVERGE_PARTED,
					   .stable_id = 3,
					   .low = 101,
					   .at = 1,
					   .run = { { .step = step } } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct divergence d = { .verdict = rows[i].verdict,
					      .stable_id = rows[i].stable_id,
					      .low = rows[i].low,
					      .at = rows[i].at,
					      .run = { { .step = step } } };

		CHECK_EQ(diverge_as_early(&d, &before), rows[i].again, "row at line %d",
			 rows[i].line);
	}
}

TEST_MAIN()
