/* SPDX-License-Identifier: MIT */
/* What a thread is called where processes fork, execute programs and have threads. */
#include "session/diverge.h"
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

TEST_MAIN()
