/* SPDX-License-Identifier: MIT */
/* The verdicts on hand-written samples. verify_work_test.c has thousands of synthetic machines. */
#include <stdlib.h>
#include <string.h>
#include "verify/verify.h"
#include "tap.h"

/* Three hand-written samples and the exact verdict on them. */
static const struct {
	int line;
	struct verify_sample s[3];
	enum verify_verdict verdict;
	const char *words;
} literal[] = {
	{ __LINE__,
	  { { 0, true, 20000, 60000 }, { 0, true, 40000, 120000 }, { 0, true, 2, 6 } },
	  VERIFY_FACTOR,
	  "3 times the work done" },
	{ __LINE__,
	  { { 0, true, 20000, 18000 }, { 0, true, 40000, 39000 }, { 0, true, 2, 2 } },
	  VERIFY_UNDER,
	  "too few: down to 0.9375 of the work" },
	{ __LINE__,
	  { { 0, true, 100, 100 }, { 0, true, 200, 207 }, { 0, true, 300, 303 } },
	  VERIFY_NOISY,
	  "different each time, by up to 7" },
	{ __LINE__,
	  { { 0, true, 100, 105 }, { 0, true, 200, 205 }, { 0, true, 300, 308, .interrupts = 4 } },
	  VERIFY_INTERRUPTS,
	  "3 too many in total, with 4 interrupts during that time; otherwise exact" },
	{ __LINE__,
	  { { 0, true, 100, 109, .interrupts = 4 }, { 0, true, 200, 205 }, { 0, true, 300, 305 } },
	  VERIFY_INTERRUPTS,
	  "4 too many in total, with 4 interrupts during that time; otherwise exact" },
	{ __LINE__,
	  { { 0, true, 100, 105 }, { 0, true, 200, 205 }, { 0, true, 300, 308, .interrupts = 0 } },
	  VERIFY_NOISY,
	  "different each time, by up to 3" },
	{ __LINE__,
	  { { 0, true, 100, 107 }, { 0, true, 200, 207 }, { 0, true, 300, 347, .faults = 20 } },
	  VERIFY_FAULTS,
	  "2 too many for each page fault; otherwise exact" },
	{ __LINE__,
	  { { 0, true, 100, 107 },
	    { 0, true, 200, 207 },
	    { 0, true, 300, 340, .faults = 20, .by_itself = true } },
	  VERIFY_FAULTS,
	  "2 too many for each page fault; otherwise exact" },
	{ __LINE__,
	  { { 0, true, 100, 100 }, { 0, true, 200, 200 }, { 0, true, 300, 280, .faults = 20 } },
	  VERIFY_FAULTS,
	  "-1 too many for each page fault; otherwise exact" },
	{ __LINE__,
	  { { 0, true, 100, 107 }, { 0, true, 200, 207 }, { 0, false, 0, 9 } },
	  VERIFY_FIXED,
	  "exact after 7 are subtracted, which each reading adds" },
	{ __LINE__,
	  { { 0, true, 100, 107 },
	    { 0, true, 200, 207 },
	    { 0, true, 300, 347, .kind = 9, .syscalls = 20 } },
	  VERIFY_SYSCALLS,
	  "2 too many for each system call; otherwise exact" },
	{ __LINE__,
	  { { 0, true, 0, 0 }, { 0, true, 200, 200 }, { 0, true, 300, 300 } },
	  VERIFY_EXACT,
	  "each time exactly the work done" },
	{ __LINE__,
	  { { 0, true, 100, 100 }, { 0, true, 100, 0 }, { 0, true, 300, 0 } },
	  VERIFY_FROZEN,
	  "it counted at first, then stopped" },
	{ __LINE__,
	  { { 0, true, 100, 1ull << 60 }, { 0, true, 200, 200 }, { 0, true, 300, 300 } },
	  VERIFY_WIDTH,
	  "it went backwards: tare or the kernel assumes a wrong counter width" },
	{ __LINE__,
	  { { 0, true, 100, 50, 0, 10, 5 },
	    { 0, true, 200, 100, 0, 10, 5 },
	    { 0, true, 300, 150, 0, 10, 5 } },
	  VERIFY_MULTIPLEXED,
	  "on a counter for 50 % of the time: other events or the watchdog use the counters" },
	{ __LINE__,
	  { { 0, true, 100, 2020000, 20000 }, { 0, true, 200, 200 }, { 0, true, 300, 300 } },
	  VERIFY_IMPOSSIBLE,
	  "more than any processor can do in that time" },
	{ __LINE__,
	  { { 0, true, 100, 0 }, { 0, true, 200, 0 }, { 0, true, 300, 0 } },
	  VERIFY_DEAD,
	  "always 0" },
	{ __LINE__,
	  { { 0, false, 0, 1 }, { 0, false, 0, 2 }, { 0, false, 0, 3 } },
	  VERIFY_UNTESTED,
	  "it counts, but the correct count is unknown" },
};

TEST(what_is_said_of_three_samples)
{
	for (size_t i = 0; i < ARRAY_SIZE(literal); i++) {
		const struct verify_result r = verify_judge(literal[i].s, 3);
		struct text t = { 0 };

		verify_words(&t, &r);
		CHECK(r.verdict == literal[i].verdict, "row at line %d: %s", literal[i].line,
		      verify_names[r.verdict]);
		CHECK(!strcmp(t.s, literal[i].words), "row at line %d: %s", literal[i].line, t.s);
		text_free(&t);
	}
}

/* Wrong for one kind of work of five, and for more than a quarter of them. */
TEST(wrong_for_some_work)
{
	struct verify_sample s[10];
	struct verify_result r;
	struct text t = { 0 };

	for (unsigned i = 0; i < 10; i++)
		s[i] = (struct verify_sample){ .length = 100,
					       .expects = true,
					       .expected = 200,
					       .count = 207 + (i % 5 == 3 ? i : 0),
					       .kind = i % 5 };
	r = verify_judge(s, 10);
	verify_words(&t, &r);
	CHECK(r.verdict == VERIFY_SOME && !verify_trusted(&r), "%s", verify_names[r.verdict]);
	CHECK_EQ(r.kinds, 1u << 3, "kinds");
	CHECK(!strncmp(t.s, "0.055 too many per iteration of ", 32), "%s", t.s);
	s[1].count += 5;
	r = verify_judge(s, 10);
	CHECK(r.verdict == VERIFY_NOISY, "two of five: %s", verify_names[r.verdict]);
	s[1].count -= 5;
	s[0].count = 260;
	r = verify_judge(s, 10);
	CHECK(r.verdict == VERIFY_NOISY, "the loop itself: %s", verify_names[r.verdict]);
	text_free(&t);
}

TEST(it_counted_when_it_was_warmed)
{
	struct verify_sample s[3] = { { 0, true, 100, 0 },
				      { 0, true, 200, 0 },
				      { 0, true, 300, 0 } };

	s[0].counted_before = true;
	CHECK_EQ(verify_judge(s, 3).verdict, VERIFY_FROZEN, "and no more");
}

TEST(nothing_was_counted)
{
	CHECK_EQ(verify_judge(NULL, 0).verdict, VERIFY_UNAVAILABLE, "no samples");
}

TEST(each_verdict_has_words)
{
	for (unsigned v = 0; v < VERIFY_VERDICTS; v++) {
		const struct verify_result r = { .verdict = (enum verify_verdict)v,
						 .factor = 2,
						 .share = 0.5,
						 .as = WORK_UNKNOWN };
		struct text t = { 0 };

		verify_words(&t, &r);
		CHECK(verify_names[v] && t.len > 3, "verdict %u", v);
		text_free(&t);
	}
}

TEST_MAIN()
