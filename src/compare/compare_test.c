/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "compare/compare.h"
#include "compare/compare_lines.h"
#include "random.h"
#include "tap.h"

enum { MOST = 8 };

static struct compare_event event_of(bool exact, double threshold, const uint64_t *a,
				     const uint64_t *b, size_t n)
{
	struct compare_event e = { .exact = exact, .threshold = threshold, .time = !exact };

	for (size_t i = 0; i < n; i++) {
		compare_add(&e.of[COMPARE_BEFORE], a[i], NULL);
		compare_add(&e.of[COMPARE_AFTER], b[i], NULL);
	}
	return e;
}

static const struct {
	int line;
	bool exact;
	double threshold, allowed;
	size_t n;
	uint64_t before[MOST], after[MOST];
	enum compare_verdict verdict;
	bool small, by_equality;
} rows[] = {
	/* Exact counts: any difference is a change, however large the counts are. */
	{ __LINE__, true, 0.1, 0, 2, { 1000, 1000 }, { 1000, 1000 }, COMPARE_SAME, false, true },
	{ __LINE__,
	  true,
	  0.1,
	  0,
	  2,
	  { 10000, 10000 },
	  { 10001, 10001 },
	  COMPARE_MORE,
	  false,
	  true },
	{ __LINE__,
	  true,
	  0.1,
	  0,
	  2,
	  { 10001, 10001 },
	  { 10000, 10000 },
	  COMPARE_LESS,
	  false,
	  true },
	{ __LINE__,
	  true,
	  0.1,
	  0,
	  2,
	  { 1ull << 60, 1ull << 60 },
	  { (1ull << 60) + 1, (1ull << 60) + 1 },
	  COMPARE_MORE,
	  false,
	  true },
	{ __LINE__, true, 0.1, 1, 2, { 10000, 10000 }, { 10001, 10001 }, COMPARE_MORE, true, true },
	{ __LINE__,
	  true,
	  0.1,
	  1,
	  2,
	  { 10000, 10000 },
	  { 10100, 10100 },
	  COMPARE_MORE,
	  false,
	  true },
	{ __LINE__, true, 0.1, 1, 2, { 0, 0 }, { 5, 5 }, COMPARE_MORE, false, true },
	{ __LINE__, true, 0.1, 0, 1, { 7 }, { 7 }, COMPARE_SAME, false, true },
	/* One side does not repeat: no equality. */
	{ __LINE__,
	  true,
	  0.1,
	  0,
	  2,
	  { 1000, 1001 },
	  { 1000, 1000 },
	  COMPARE_CANNOT_TELL,
	  false,
	  false },
	{ __LINE__,
	  true,
	  0.1,
	  0,
	  2,
	  { 1000, 1000 },
	  { 1001, 1000 },
	  COMPARE_CANNOT_TELL,
	  false,
	  false },
	{ __LINE__,
	  true,
	  0.1,
	  0,
	  5,
	  { 100000, 100001, 100000, 100001, 100000 },
	  { 101000, 101001, 101000, 101001, 101001 },
	  COMPARE_MORE,
	  false,
	  false },
	{ __LINE__,
	  true,
	  0.1,
	  0,
	  5,
	  { 100000, 100001, 100000, 100001, 100000 },
	  { 100001, 100001, 100000, 100001, 100001 },
	  COMPARE_SAME,
	  false,
	  false },
	/* Times: clearly above the threshold, below it, between, and too few. */
	{ __LINE__,
	  false,
	  2,
	  0,
	  5,
	  { 1000, 1001, 999, 1002, 998 },
	  { 1100, 1101, 1099, 1102, 1098 },
	  COMPARE_MORE,
	  false,
	  false },
	{ __LINE__,
	  false,
	  2,
	  0,
	  5,
	  { 1100, 1101, 1099, 1102, 1098 },
	  { 1000, 1001, 999, 1002, 998 },
	  COMPARE_LESS,
	  false,
	  false },
	{ __LINE__,
	  false,
	  2,
	  0,
	  5,
	  { 1000, 1001, 999, 1002, 998 },
	  { 1005, 1006, 1004, 1007, 1003 },
	  COMPARE_SAME,
	  false,
	  false },
	{ __LINE__,
	  false,
	  2,
	  0,
	  5,
	  { 1000, 1001, 999, 1002, 998 },
	  { 1020, 1021, 1019, 1022, 1018 },
	  COMPARE_CANNOT_TELL,
	  false,
	  false },
	{ __LINE__,
	  false,
	  2,
	  0,
	  5,
	  { 1000, 1300, 900, 1100, 700 },
	  { 1100, 1400, 1000, 1200, 800 },
	  COMPARE_CANNOT_TELL,
	  false,
	  false },
	{ __LINE__, false, 2, 0, 1, { 1000 }, { 2000 }, COMPARE_CANNOT_TELL, false, false },
	/* Noise that did not show in two runs is possible. */
	{ __LINE__,
	  false,
	  2,
	  0,
	  2,
	  { 1000, 1000 },
	  { 2000, 2000 },
	  COMPARE_CANNOT_TELL,
	  false,
	  false },
};

TEST(verdicts)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct compare_event e = event_of(rows[i].exact, rows[i].threshold, rows[i].before,
						  rows[i].after, rows[i].n);

		e.allowed = rows[i].allowed;
		CHECK_EQ(compare_judge(&e, NULL), 0, "row at line %d", rows[i].line);
		CHECK_EQ(e.verdict, rows[i].verdict, "row at line %d: %g %% +- %g, p %g",
			 rows[i].line, e.percent, e.half_percent, e.p);
		CHECK_EQ(e.small, rows[i].small, "row at line %d", rows[i].line);
		CHECK_EQ(e.by_equality, rows[i].by_equality, "row at line %d", rows[i].line);
		compare_event_free(&e);
	}
}

/* A change needs a second set of runs that shows it, too. */
TEST(confirmed)
{
	static const uint64_t a[] = { 1000, 1001, 999, 1002, 998 },
			      b[] = { 1100, 1101, 1099, 1102, 1098 };

	for (int again = 0; again < 3; again++) {
		struct compare_event e = event_of(false, 2, a, b, 5);

		CHECK_EQ(compare_judge(&e, NULL), 0, "first");
		CHECK(compare_to_confirm(&e), "must be confirmed");
		for (size_t i = 0; again && i < 5; i++) {
			compare_add(&e.again[0], a[i], NULL);
			compare_add(&e.again[1], again == 1 ? b[i] : a[i], NULL);
		}
		CHECK_EQ(compare_judge(&e, NULL), 0, "second");
		CHECK_EQ(e.verdict, again == 2 ? COMPARE_CANNOT_TELL : COMPARE_MORE, "%d", again);
		CHECK_EQ(e.unconfirmed, again == 2, "%d", again);
		compare_event_free(&e);
	}
}

/* Not interleaved: the same numbers may be a drift of the machine. */
TEST(blocks)
{
	static const uint64_t a[] = { 1000, 1130, 1040, 1210, 1090 },
			      b[] = { 1400, 1530, 1440, 1610, 1490 };
	struct compare_event e = event_of(false, 2, a, b, 5);

	CHECK_EQ(compare_judge(&e, NULL), 0, "turns");
	CHECK_EQ(e.verdict, COMPARE_MORE, "turns: p %g", e.p);
	e.in_blocks = true;
	CHECK_EQ(compare_judge(&e, NULL), 0, "blocks");
	CHECK_EQ(e.verdict, COMPARE_CANNOT_TELL, "blocks: p %g", e.p);
	compare_event_free(&e);
}

/* As many runs as it says are enough, of noise of that size. */
TEST(needed)
{
	static const uint64_t a[] = { 1000, 1030, 970, 1050, 950 },
			      b[] = { 1000, 1030, 970, 1050, 950 };
	struct compare_event e = event_of(false, 2, a, b, 5);

	CHECK_EQ(compare_judge(&e, NULL), 0, "five");
	CHECK_EQ(e.verdict, COMPARE_CANNOT_TELL, "five");
	CHECK(e.needed > 20 && e.needed < 200, "%zu", e.needed);
	for (size_t i = 5; i < e.needed + 5; i++)
		for (int side = 0; side < COMPARE_SIDES; side++)
			compare_add(&e.of[side], a[i % 5], NULL);
	CHECK_EQ(compare_judge(&e, NULL), 0, "more");
	CHECK_EQ(e.verdict, COMPARE_SAME, "%zu runs: %g %% +- %g", e.of[0].n, e.percent,
		 e.half_percent);
	compare_event_free(&e);
}

/* Twelve pairs; the speed of the machine drifts and jumps by more than the sides differ. */
static struct compare_event pairs_of(double percent)
{
	static const uint64_t speed[] = { 1000, 1010, 1400, 1390, 1380, 900,
					  905,  1700, 1650, 1000, 990,  1200 };
	static const int noise[] = { 2, -1, 3, -2, 1, -3, 2, -2, 1, -1, 3, -3 };
	struct compare_event e = { .time = true, .threshold = 1, .paired = true };

	for (size_t i = 0; i < ARRAY_SIZE(speed); i++) {
		double after = (double)speed[i] * 1000 * (1 + percent / 100);

		compare_add(&e.of[COMPARE_BEFORE], speed[i] * 1000, NULL);
		compare_add(&e.of[COMPARE_AFTER], (uint64_t)(after * (1 + noise[i] / 2000.0)),
			    NULL);
	}
	return e;
}

TEST(pairs)
{
	static const struct {
		int line;
		double percent;
		bool paired;
		unsigned looks;
		enum compare_verdict verdict;
	} all[] = {
		{ __LINE__, 3, true, 1, COMPARE_MORE },
		{ __LINE__, -3, true, 1, COMPARE_LESS },
		{ __LINE__, 0, true, 1, COMPARE_SAME },
		{ __LINE__, 1, true, 1, COMPARE_CANNOT_TELL },
		{ __LINE__, 3, false, 1, COMPARE_CANNOT_TELL }, /* by means */
		{ __LINE__, 3, true, 20, COMPARE_MORE },
		/* 2 / 2^12 is above a 25th of the level */
		{ __LINE__, 3, true, 25, COMPARE_CANNOT_TELL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct compare_event e = pairs_of(all[i].percent);

		e.paired = all[i].paired;
		e.looks = all[i].looks;
		CHECK_EQ(compare_judge(&e, NULL), 0, "row at line %d", all[i].line);
		CHECK_EQ(e.by_pairs, all[i].paired, "row at line %d", all[i].line);
		CHECK_EQ(e.verdict, all[i].verdict, "row at line %d: %g %% (%g to %g), p %g",
			 all[i].line, e.percent, e.low_percent, e.high_percent, e.p);
		CHECK_EQ(e.p <= COMPARE_LEVEL, e.verdict != COMPARE_CANNOT_TELL,
			 "row at line %d: p %g", all[i].line, e.p);
		if (all[i].paired)
			CHECK(fabs(e.percent - all[i].percent) < 0.15, "row at line %d: %g",
			      all[i].line, e.percent);
		CHECK(!isfinite(e.low_percent) ||
			      (e.low_percent < e.percent && e.percent < e.high_percent),
		      "row at line %d: %g to %g", all[i].line, e.low_percent, e.high_percent);
		compare_event_free(&e);
	}
}

/* Each set has its own number of looks. */
TEST(looks_at_the_second_set)
{
	for (unsigned looks = 1; looks <= 25; looks += 24) {
		struct compare_event e = pairs_of(3), again = pairs_of(3);

		e.looks = 1;
		e.again_looks = looks;
		for (int side = 0; side < COMPARE_SIDES; side++) {
			e.again[side] = again.of[side];
			again.of[side] = (struct compare_values){ NULL };
		}
		CHECK_EQ(compare_judge(&e, NULL), 0, "judged");
		CHECK_EQ(e.verdict, looks == 1 ? COMPARE_MORE : COMPARE_CANNOT_TELL, "%u looks",
			 looks);
		CHECK_EQ(e.unconfirmed, looks != 1, "%u looks", looks);
		compare_event_free(&e);
	}
}

/* There is no ratio to a run of 0. */
TEST(pairs_with_zeros)
{
	struct compare_event e = pairs_of(3);

	e.of[COMPARE_BEFORE].value[4] = 0;
	CHECK_EQ(compare_judge(&e, NULL), 0, "judged");
	CHECK(!e.by_pairs && e.verdict == COMPARE_CANNOT_TELL, "by means: %g", e.percent);
	compare_event_free(&e);
	e = (struct compare_event){ .threshold = 1, .paired = true };
	for (int i = 0; i < 7; i++) {
		compare_add(&e.of[COMPARE_BEFORE], 1000, NULL);
		compare_add(&e.of[COMPARE_AFTER], 2000, NULL);
	}
	CHECK_EQ(compare_judge(&e, NULL), 0, "judged");
	CHECK(e.verdict == COMPARE_CANNOT_TELL && e.needed == 8 && isnan(e.half_percent),
	      "too few: %zu", e.needed);
	for (int side = 0; side < COMPARE_SIDES; side++)
		compare_add(&e.of[side], side ? 2000 : 1000, NULL);
	CHECK_EQ(compare_judge(&e, NULL), 0, "judged");
	CHECK(e.verdict == COMPARE_MORE && fabs(e.percent - 100) < 1e-9, "enough: %g", e.percent);
	compare_event_free(&e);
}

/* Each look can decide at its share of the level, and they double up to all runs. */
TEST(looks_at_a_growing_set)
{
	static const struct {
		unsigned runs, first, looks;
	} all[] = { { 0, 0, 1 },   { 5, 5, 1 },    { 8, 8, 1 },    { 17, 17, 1 },  { 18, 9, 2 },
		    { 20, 10, 2 }, { 100, 12, 4 }, { 400, 12, 6 }, { 1000, 15, 7 } };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		unsigned looks, first = compare_first_look(all[i].runs, &looks);

		CHECK_EQ(first, all[i].first, "%u runs", all[i].runs);
		CHECK_EQ(looks, all[i].looks, "%u runs", all[i].runs);
		CHECK_EQ(all[i].runs >> (looks - 1), first, "%u runs", all[i].runs);
	}
}

/*
 * Nothing changed, the speed of the machine jumps and drifts, and the set is judged at each look:
 * the first set alone shows a change, at a threshold of 0, in at most 1 % of the comparisons. Of
 * 600 that is 6, with a standard deviation of 2.4.
 */
TEST(level_of_all_looks)
{
	unsigned looks, first = compare_first_look(100, &looks), alarms = 0;
	uint64_t state = 3;

	for (int times = 0; times < 600; times++) {
		struct compare_event e = { .time = true, .paired = true, .looks = looks };
		double level = 0;
		bool alarm = false;

		for (unsigned n = 0, next = first; n < 100 && !alarm;) {
			double run[2];

			for (int i = 0; i < 2; i++) {
				level = 0.9 * level + random_uniform(&state) - 0.5;
				level = random_uniform(&state) < 0.02 ? 2 : level;
				run[i] = 1e6 * exp(0.1 * level) - 1e4 * log(random_uniform(&state));
			}
			bool turn = random_uniform(&state) < 0.5;

			for (int i = 0; i < 2; i++)
				compare_add(&e.of[i], (uint64_t)run[i ^ turn], NULL);
			if (++n != next)
				continue;
			next = --looks ? 100 >> (looks - 1) : 0;
			CHECK_EQ(compare_judge(&e, NULL), 0, "judged");
			alarm = e.verdict == COMPARE_MORE || e.verdict == COMPARE_LESS;
		}
		alarms += alarm;
		compare_first_look(100, &looks);
		compare_event_free(&e);
	}
	CHECK(alarms <= 14, "%u", alarms);
	CHECK(alarms >= 1, "%u", alarms);
}

TEST(outcomes)
{
	static const struct {
		int line;
		enum compare_verdict verdict[2];
		bool small;
		enum compare_outcome outcome;
		size_t by;
	} all[] = {
		{ __LINE__, { COMPARE_SAME, COMPARE_CANNOT_TELL }, false, OUTCOME_SAME, 0 },
		{ __LINE__,
		  { COMPARE_CANNOT_TELL, COMPARE_CANNOT_TELL },
		  false,
		  OUTCOME_CANNOT_TELL,
		  0 },
		{ __LINE__, { COMPARE_LESS, COMPARE_MORE }, false, OUTCOME_SLOWER, 1 },
		{ __LINE__, { COMPARE_SAME, COMPARE_LESS }, false, OUTCOME_FASTER, 1 },
		{ __LINE__, { COMPARE_MORE, COMPARE_CANNOT_TELL }, true, OUTCOME_SAME, 0 },
		{ __LINE__, { COMPARE_LESS, COMPARE_CANNOT_TELL }, true, OUTCOME_SAME, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct compare_event e[2] = { { .verdict = all[i].verdict[0],
						.small = all[i].small },
					      { .verdict = all[i].verdict[1] } };
		const struct compare_event *by;

		CHECK_EQ(compare_outcome(e, 2, &by), all[i].outcome, "row at line %d", all[i].line);
		CHECK_EQ((size_t)(by - e), all[i].by, "row at line %d", all[i].line);
	}
}

enum { LINES = 8 };

/* Lines of one function before and after; 0 ends a list, and in a pair: there is no such line. */
static const struct {
	int line;
	struct compare_counted_line before[LINES], after[LINES];
	struct {
		unsigned before, after;
		int64_t change;
	} pair[LINES];
} functions[] = {
	/* moved by two lines; one does more, and one is similar */
	{ __LINE__,
	  { { "f.c", "for (;;)", 1, 10 },
	    { "f.c", "\tif (a == b)", 2, 30 },
	    { "f.c", "n++;", 3, 5 } },
	  { { "d/f.c", "for (;;)", 3, 10 },
	    { "d/f.c", "depth++;", 4, 90 },
	    { "d/f.c", "if (a == b && depth)", 5, 40 },
	    { "d/f.c", "n++;  ", 6, 6 } },
	  { { 0, 4, 90 }, { 2, 5, 10 }, { 3, 6, 1 }, { 1, 3, 0 } } },
	/* the same counts in another order of the texts: texts decide */
	{ __LINE__,
	  { { "f.c", "aaaa", 1, 10 }, { "f.c", "bbbb", 2, 20 } },
	  { { "f.c", "bbbb", 1, 10 }, { "f.c", "cccc", 2, 20 } },
	  { { 0, 2, 20 }, { 2, 1, -10 }, { 1, 0, -10 } } },
	/* similar at the end, and not similar enough */
	{ __LINE__,
	  { { "f.c", "int value = 1;", 1, 10 }, { "f.c", "abcdef", 2, 20 } },
	  { { "f.c", "long value = 1;", 1, 11 }, { "f.c", "abxxxx", 2, 21 } },
	  { { 1, 1, 1 }, { 2, 0, -20 }, { 0, 2, 21 } } },
	/* without texts: by the counts of unchanged lines, and in order between them */
	{ __LINE__,
	  { { "f.c", NULL, 1, 10 }, { "f.c", NULL, 2, 30 }, { "f.c", NULL, 3, 5 } },
	  { { "f.c", NULL, 4, 10 }, { "f.c", NULL, 5, 70 }, { "f.c", NULL, 6, 5 } },
	  { { 2, 5, 40 }, { 1, 4, 0 }, { 3, 6, 0 } } },
	/* not equally many: those at the same distance */
	{ __LINE__,
	  { { "f.c", NULL, 1, 10 }, { "f.c", NULL, 2, 30 }, { "f.c", NULL, 9, 5 } },
	  { { "f.c", NULL, 4, 10 },
	    { "f.c", NULL, 5, 70 },
	    { "f.c", NULL, 6, 7 },
	    { "f.c", NULL, 12, 5 } },
	  { { 2, 5, 40 }, { 0, 6, 7 }, { 1, 4, 0 }, { 9, 12, 0 } } },
	/* lines of other files, as of a macro, do not match */
	{ __LINE__,
	  { { "a.h", NULL, 7, 10 }, { "f.c", NULL, 1, 20 } },
	  { { "b.h", NULL, 7, 10 }, { "f.c", NULL, 1, 25 } },
	  { { 7, 0, -10 }, { 0, 7, 10 }, { 1, 1, 5 } } },
	{ __LINE__, { { NULL } }, { { "f.c", NULL, 1, 20 } }, { { 0, 1, 20 } } },
	{ __LINE__, { { NULL } }, { { NULL } }, { { 0 } } },
};

static size_t number_of_lines(const struct compare_counted_line *l)
{
	size_t n = 0;

	while (n < LINES && l[n].line)
		n++;
	return n;
}

TEST(lines_of_both_builds_correspond)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		size_t n = number_of_lines(functions[i].before),
		       k = number_of_lines(functions[i].after), found = 0;
		uint64_t sum[COMPARE_SIDES] = { 0 };
		struct tare_error err = TARE_ERROR_INIT;
		struct compare_lines l;

		CHECK_EQ(compare_lines_match(&l, functions[i].before, n, functions[i].after, k,
					     &err),
			 0, "%s", err.what);
		for (size_t j = 0; j < l.n; j++) {
			for (int side = 0; side < COMPARE_SIDES; side++)
				sum[side] += l.line[j].amount[side];
			CHECK(!j || llabs(l.line[j].change) <= llabs(l.line[j - 1].change),
			      "row at line %d: sorted", functions[i].line);
		}
		for (size_t j = 0; j < LINES; j++) {
			unsigned before = functions[i].pair[j].before,
				 after = functions[i].pair[j].after;
			bool there = !before && !after;

			for (size_t x = 0; x < l.n; x++)
				there |= l.line[x].line[0] == before &&
					l.line[x].line[1] == after &&
					l.line[x].change == functions[i].pair[j].change;
			found += before || after;
			CHECK(there, "row at line %d: %u and %u", functions[i].line, before, after);
		}
		CHECK_EQ(l.n, found, "row at line %d", functions[i].line);
		for (size_t j = 0; j < n; j++)
			sum[0] -= functions[i].before[j].amount;
		for (size_t j = 0; j < k; j++)
			sum[1] -= functions[i].after[j].amount;
		CHECK(!sum[0] && !sum[1], "row at line %d: each line once", functions[i].line);
		compare_lines_free(&l);
	}
}

TEST_MAIN()
