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

/* A sample of `kind` with an expected count of 200, over by `over`. */
static struct verify_sample over_by(unsigned kind, int over)
{
	return (struct verify_sample){ .length = 100,
				       .expects = true,
				       .expected = 200,
				       .count = (uint64_t)(200 + over),
				       .kind = kind };
}

static enum verify_verdict verdict_of(const struct verify_sample *s, size_t n)
{
	return verify_judge(s, n).verdict;
}

/* At most one kind in four may be wrong, never the loop (0), and the loop must be there. */
TEST(some_work_is_a_quarter_of_it_beside_the_loop)
{
	struct verify_sample s[6];

	for (unsigned i = 0; i < 4; i++)
		s[i] = over_by(i, i == 2 ? 9 : 0);
	CHECK_EQ(verdict_of(s, 4), VERIFY_SOME, "one of four");
	CHECK_EQ(verdict_of(s + 1, 3), VERIFY_NOISY, "no loop, one of three");
	CHECK_EQ(verdict_of(s, 3), VERIFY_NOISY, "one of three");
	for (unsigned i = 0; i < 6; i++)
		s[i] = over_by(i + 1, i == 2 ? 9 : 0);
	CHECK_EQ(verdict_of(s, 6), VERIFY_NOISY, "no loop, one of six");
	for (unsigned i = 0; i < 5; i++)
		s[i] = over_by(i ? i + 1 : 0, i == 2 ? 9 : 0);
	CHECK_EQ(verdict_of(s, 5), VERIFY_SOME, "kind 1 is not there");
}

/* The order of the samples does not matter. */
TEST(the_first_sample_may_be_the_wrong_one)
{
	struct verify_sample s[5];

	for (unsigned i = 0; i < 5; i++)
		s[i] = over_by(4 - i, i ? 0 : 9);
	CHECK_EQ(verify_judge(s, 5).kinds, 1u << 4);
	s[0] = over_by(0, 9);
	s[1] = s[2] = over_by(0, 0);
	CHECK_EQ(verdict_of(s, 3), VERIFY_NOISY);
	CHECK_EQ(verify_judge(s, 3).spread, 9);
}

/* The overhead of a reading occurs more than once. */
TEST(the_overhead_that_repeats)
{
	const int overs[][4] = { { 5, 7, 7, 9 }, { 9, 7, 5, 7 }, { 8, 8, 3, 3 }, { 4, 9, 6, 5 } };
	static const int fixed[] = { 7, 7, 3, 4 };

	for (size_t k = 0; k < ARRAY_SIZE(overs); k++) {
		struct verify_sample s[4];

		for (unsigned i = 0; i < 4; i++)
			s[i] = over_by(0, overs[k][i]);
		CHECK_EQ(verify_judge(s, 4).fixed, fixed[k], "row %zu", k);
	}
}

/* Not from disturbed samples, unless all are; and from the loop alone, if it is there. */
TEST(the_overhead_of_undisturbed_samples)
{
	struct verify_sample s[4] = { over_by(0, 2), over_by(0, 2), over_by(0, 7), over_by(3, 1) };

	s[0].interrupts = s[1].interrupts = 1;
	CHECK_EQ(verify_judge(s, 4).fixed, 7);
	s[2].interrupts = 1;
	CHECK_EQ(verify_judge(s, 4).fixed, 2);
	s[0].syscalls = s[1].faults = s[2].syscalls = 1;
	CHECK_EQ(verify_judge(s, 4).fixed, 0, "nothing tells it");
}

/* The overcount per fault or call is the median, rounded to the nearest, in either direction. */
TEST(the_overcount_per_fault_is_the_median)
{
	struct verify_sample s[6] = { over_by(0, 0),  over_by(0, 0),  over_by(0, 0),
				      over_by(1, 33), over_by(1, 10), over_by(1, 22) };

	for (unsigned i = 3; i < 6; i++)
		s[i].faults = 10;
	CHECK_EQ(verdict_of(s, 6), VERIFY_NOISY, "3, 1 and 2 for each");
	s[3].count = s[5].count = 200 + 20;
	s[4].count = 200 + 10 * 2;
	CHECK_EQ(verify_judge(s, 6).per_fault, 2);
	CHECK_EQ(verdict_of(s, 6), VERIFY_FAULTS);
	s[3].count = 200 - 20;
	s[4].count = s[5].count = 200 - 10 * 2;
	CHECK_EQ(verify_judge(s, 6).per_fault, -2);
	s[3].faults = 11; /* 20 for 11: 1.8, and -20 / 10 */
	CHECK_EQ(verify_judge(s, 6).per_fault, 0, "noise has none");
	s[3] = over_by(1, 30);
	s[4] = over_by(1, 10);
	s[5] = over_by(1, 20);
	s[3].syscalls = 15;
	s[4].syscalls = 5;
	s[5].syscalls = 10;
	CHECK_EQ(verify_judge(s, 6).per_syscall, 2);
	CHECK_EQ(verdict_of(s, 6), VERIFY_SYSCALLS);
}

/* A factor is visible from 10,000 on, if it is at least 1 % and the same within 0.2 %. */
TEST(limits_of_a_factor)
{
	/* the last one shows that a reading adds nothing */
	struct verify_sample s[3] = { { 0, true, 10000, 30000 },
				      { 0, true, 20000, 60000 },
				      { 0, true, 2, 2 } };
	struct verify_result r = verify_judge(s, 3);

	CHECK(r.verdict == VERIFY_FACTOR && r.factor == 3, "%g", r.factor);
	s[0].expected = 9999;
	s[0].count = 20000;
	CHECK_EQ(verdict_of(s, 3), VERIFY_FACTOR, "too short to show another");
	s[0].expected = 10000;
	CHECK_EQ(verdict_of(s, 3), VERIFY_NOISY, "2 and 3");
	s[0] = (struct verify_sample){ 0, true, 100000, 101100 };
	s[1] = (struct verify_sample){ 0, true, 200000, 202200 };
	CHECK_EQ(verdict_of(s, 3), VERIFY_FACTOR);
	s[0].count = 100900;
	s[1].count = 201800;
	CHECK_EQ(verdict_of(s, 3), VERIFY_NOISY, "0.9 %%");
	s[0].count = 98000;
	s[1].count = 196000;
	s[2].count = 0;
	s[2].length = 1;
	CHECK_EQ(verdict_of(s, 3), VERIFY_FACTOR);
	s[1].count = 196500;
	CHECK_EQ(verdict_of(s, 3), VERIFY_UNDER, "0.25 %% apart");
	s[0].count = 99500;
	s[1].count = 199000;
	CHECK_EQ(verdict_of(s, 3), VERIFY_UNDER, "0.5 %%");
	s[0].expected = 10000;
	s[0].count = 10000;
	CHECK_EQ(verdict_of(s, 3), VERIFY_NOISY, "a long one is right");
	s[0].expected = s[0].count = 9999;
	CHECK_EQ(verdict_of(s, 3), VERIFY_UNDER, "a short one is");
	s[0] = (struct verify_sample){ 0, true, 20000, 60007 };
	s[1] = (struct verify_sample){ 0, true, 40000, 120007 };
	s[2] = (struct verify_sample){ 0, true, 2, 9 };
	CHECK(verify_judge(s, 3).factor == 3, "less 7 of a reading");
	s[0].by_itself = true;
	s[0].count = 60000;
	CHECK(verify_judge(s, 3).factor == 3, "which this one does not add");
}

TEST(limits_of_the_possible)
{
	struct verify_sample s[2] = { { 0, true, 200, 1000100, 10000 }, { 0, true, 200, 200 } };

	CHECK_EQ(verdict_of(s, 2), VERIFY_IMPOSSIBLE);
	s[0].ns = 9999;
	CHECK_EQ(verdict_of(s, 2), VERIFY_NOISY, "a moment");
	s[0].ns = 10001;
	CHECK_EQ(verdict_of(s, 2), VERIFY_NOISY, "100 for each ns");
	s[0].count = (1ull << 60) - 1;
	s[0].ns = 1ull << 59;
	CHECK_EQ(verdict_of(s, 2), VERIFY_NOISY, "not backwards");
}

TEST(what_is_not_expected_is_not_judged)
{
	struct verify_sample s[3] = { over_by(0, 9), over_by(0, 9), over_by(0, 9) };

	for (unsigned i = 0; i < 3; i++)
		s[i].expects = false;
	CHECK_EQ(verdict_of(s, 3), VERIFY_UNTESTED);
	s[0] = (struct verify_sample){ .expects = true, .count = 4 };
	CHECK_EQ(verdict_of(s, 3), VERIFY_UNTESTED, "0 is expected of it");
	s[1] = over_by(0, 0);
	s[2].count = 77;
	s[0].count = 0;
	CHECK_EQ(verdict_of(s, 3), VERIFY_EXACT);
}

TEST(frozen_is_what_counted_the_same_work)
{
	struct verify_sample s[3] = { over_by(0, 0), over_by(0, -200), over_by(0, -200) };

	CHECK_EQ(verdict_of(s, 3), VERIFY_FROZEN);
	s[0].kind = 1;
	CHECK(verdict_of(s, 3) != VERIFY_FROZEN, "another kind");
	s[0].kind = 0;
	s[0].length = 99;
	CHECK(verdict_of(s, 3) != VERIFY_FROZEN, "another length");
	s[2].counted_before = true;
	CHECK_EQ(verdict_of(s, 3), VERIFY_FROZEN);
	s[1].expects = s[2].expects = false;
	CHECK_EQ(verdict_of(s, 3), VERIFY_EXACT, "not expected");
}

TEST(the_most_per_interrupt)
{
	struct verify_sample s[3] = { over_by(0, 0), over_by(0, 0), over_by(0, 8) };
	struct verify_result r;

	s[2].interrupts = 2;
	r = verify_judge(s, 3);
	CHECK_EQ(r.verdict, VERIFY_INTERRUPTS);
	CHECK_EQ(r.per_interrupt, 4);
	CHECK_EQ(r.over, 8);
	CHECK_EQ(r.interrupts, 2);
	CHECK_EQ(r.spread, 8);
	s[2].count++;
	CHECK_EQ(verdict_of(s, 3), VERIFY_NOISY, "more than 4 each");
	s[2].count = 200 - 3;
	s[2].interrupts = 0;
	s[2].interrupts_again = 1;
	s[0].interrupts = 5;
	r = verify_judge(s, 3);
	CHECK_EQ(r.fixed, -3, "the smallest that occurs once");
	s[1].count = s[0].count = 200;
	s[1].interrupts = 0;
	s[0].interrupts = 0;
	r = verify_judge(s, 3);
	CHECK_EQ(r.verdict, VERIFY_INTERRUPTS, "the expected count was too high: %s",
		 verify_names[r.verdict]);
	CHECK_EQ(r.per_interrupt, 3);
	CHECK_EQ(r.interrupts, 1);
	CHECK_EQ(r.over, 0);
}

static const char *words_of(const struct verify_result *r)
{
	static char words[300];
	struct text t = { 0 };

	verify_words(&t, r);
	snprintf(words, sizeof(words), "%s", t.s);
	text_free(&t);
	return words;
}

TEST(words_with_further_causes)
{
	struct verify_result r = { .verdict = VERIFY_INTERRUPTS,
				   .over = 3,
				   .interrupts = 4,
				   .per_fault = 2,
				   .per_syscall = 1,
				   .as = WORK_UNKNOWN };
	struct text kinds = { 0 };

#define ALSO_FAULTS ", but for 2 too many for each page fault"
#define ALSO_CALLS  ", but for 1 too many for each system call"
	CHECK(!strcmp(words_of(&r),
		      "3 too many in total, with 4 interrupts during that time; "
		      "otherwise exact" ALSO_CALLS ALSO_FAULTS),
	      "%s", words_of(&r));
	r.verdict = VERIFY_SYSCALLS;
	CHECK(!strcmp(words_of(&r), "1 too many for each system call; otherwise exact" ALSO_FAULTS),
	      "%s", words_of(&r));
	r.verdict = VERIFY_SOME;
	r.kinds = 1;
	r.per_turn = -0.5;
	verify_name_kinds(&kinds, 1);
	CHECK(!strncmp(words_of(&r), "0.5 too few per iteration of ", 29) &&
		      strstr(words_of(&r), kinds.s) &&
		      strstr(words_of(&r), "; otherwise exact" ALSO_CALLS ALSO_FAULTS),
	      "%s", words_of(&r));
	CHECK(kinds.len && strcmp(kinds.s, "?"), "%s", kinds.s ? kinds.s : "");
	text_free(&kinds);
	verify_name_kinds(&kinds, 3);
	CHECK(strstr(kinds.s, ", "), "%s", kinds.s);
	text_free(&kinds);
	r = (struct verify_result){ .verdict = VERIFY_FIXED, .fixed = 7, .as = 0 };
	CHECK(strstr(words_of(&r), "each reading adds: the exact number of "), "%s", words_of(&r));
	r.verdict = VERIFY_EXACT;
	CHECK(!strncmp(words_of(&r), "each time the exact number of ", 30), "%s", words_of(&r));
	r = (struct verify_result){ .verdict = VERIFY_UNTESTED, .idle = true };
	CHECK(!strncmp(words_of(&r), "0: ", 3), "%s", words_of(&r));
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
