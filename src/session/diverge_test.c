/* SPDX-License-Identifier: MIT */
/* What a thread is called where processes fork, execute programs and have threads. */
#include "session/diverge_runs.h"
#include "tap.h"

/* In the order of their ends. Process 3 is begun by thread 0, which executes another program, that has two threads, and then a third one. */
static const struct diverge_thread ended[] = {
	{ 1, 0, 10, 10 }, { 3, 1, 11, 11 }, { 3, 2, 11, 11 }, { 1, 4, 10, 12 }, { 1, 3, 10, 10 }, { 4, 6, 13, 13 }, { 1, 5, 10, 10 },
};

TEST(a_program_begun_by_exec_is_the_thread_that_it_was)
{
	static const struct {
		uint32_t born, number;
		bool since_exec;
	} rows[] = { { 0, 1, false }, { 1, 2, false }, { 2, 2, true }, { 3, 1, true }, { 4, 3, false }, { 5, 1, true }, { 6, 4, false } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool since = !rows[i].since_exec;
		uint32_t number = diverge_number(ended, ARRAY_SIZE(ended), rows[i].born, &since);

		CHECK(number == rows[i].number && since == rows[i].since_exec, "born %u is thread %u%s", rows[i].born, number,
		      since ? ", since its exec" : "");
	}
}

TEST(exec_ends_the_threads_of_the_program_before)
{
	static const struct {
		uint32_t a, b;
		bool same;
	} rows[] = { { 3, 4, true }, { 0, 4, false }, { 5, 4, false }, { 1, 2, false }, { 0, 1, false }, { 0, 9, false }, { 4, 4, true } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_EQ(diverge_same_program(ended, ARRAY_SIZE(ended), rows[i].a, rows[i].b), rows[i].same, "%u and %u", rows[i].a, rows[i].b);
		CHECK_EQ(diverge_same_program(ended, ARRAY_SIZE(ended), rows[i].b, rows[i].a), rows[i].same, "%u and %u", rows[i].b, rows[i].a);
	}
}

/* Thread 0 makes system calls at 10, 20, 30 and 40 ns, with 100 instructions between; the others live as the rows say. */
TEST(which_threads_lived_at_once_with_it)
{
	static const struct {
		int line;
		uint64_t begin, end;
		int64_t low, high;
		bool same_process, there, ever;
	} rows[] = {
		{ __LINE__, 12, 35, 150, 160, true, true, true },
		{ __LINE__, 12, 15, 250, 260, true, false, true }, /* it had ended by then */
		{ __LINE__, 33, 50, 150, 160, true, false, false }, /* it began after that */
		{ __LINE__, 33, 50, 150, 310, true, true, true },
		{ __LINE__, 12, 35, 150, 160, false, false, false },
		{ __LINE__, 2, 9, 250, 260, true, false, false }, /* of the program before this one's exec */
		{ __LINE__, 45, 50, 450, 460, true, true, true }, /* after its last call: until it ends */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mark calls[] = { { 0, 10, 100 }, { 0, 20, 200 }, { 0, 30, 300 }, { 0, 40, 400 } }, first = { 0, rows[i].begin, 5 };
		struct track track[2] = { { calls, 4, 4, true, { 0, 60, 500 } }, { &first, 1, 1, true, { 0, rows[i].end, 50 } } };
		struct diverge_thread both[] = { { 1, 0, 10, 10 }, { rows[i].same_process ? 1 : 2, 1, 10, 11 } };
		struct diverge_run run = { .thread = both, .ended = 2 };
		const struct pass p = { .run = &run, .track = track, .tracks = 2 };
		const struct divergence d = { .low = rows[i].low, .high = rows[i].high };

		CHECK_EQ(diverge_beside(&p, &d, true), (unsigned)rows[i].there, "row at line %d: there", rows[i].line);
		CHECK_EQ(diverge_beside(&p, &d, false), (unsigned)rows[i].ever, "row at line %d: up to there", rows[i].line);
	}
}

TEST(a_place_that_is_found_again)
{
	static const struct {
		int line;
		enum diverge_verdict verdict;
		uint32_t born;
		int64_t low;
		size_t at;
		bool again;
	} rows[] = {
		{ __LINE__, DIVERGE_PARTED, 3, 101, 1, true },
		{ __LINE__, DIVERGE_PARTED, 3, 100, 0, true }, /* before it */
		{ __LINE__, DIVERGE_PARTED, 3, 102, 2, false }, /* behind it, at another instruction */
		{ __LINE__, DIVERGE_PARTED, 3, 103, 3, true }, /* at the same one, of a loop */
		{ __LINE__, DIVERGE_PARTED, 2, 101, 1, false },
		{ __LINE__, DIVERGE_MOVES, 3, 101, 1, false },
	};
	struct diverge_step step[] = { { 100, 0x10 }, { 101, 0x20 }, { 102, 0x30 }, { 103, 0x20 } };
	const struct divergence before = { .verdict = DIVERGE_PARTED, .born = 3, .low = 101, .at = 1, .run = { { .step = step } } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct divergence d = { .verdict = rows[i].verdict, .born = rows[i].born, .low = rows[i].low, .at = rows[i].at, .run = { { .step = step } } };

		CHECK_EQ(diverge_as_early(&d, &before), rows[i].again, "row at line %d", rows[i].line);
	}
}

TEST_MAIN()
