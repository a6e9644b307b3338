/* SPDX-License-Identifier: MIT */
/*
 * Machines that are made up, each event with one planted fault or none: the verdict must name that fault, and call nothing
 * exact that is not. Thousands of them; the same ones each time.
 */
#include <stdlib.h>
#include <string.h>
#include "analyze/verify.h"
#include "base/error.h"
#include "tap.h"

enum { SAMPLES = 30, MACHINES = 4000 };

static uint64_t state;

static uint64_t chance(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? (state >> 11) % below : 0;
}

/* Work of several lengths, some of it with page faults, disturbed by interrupts. */
static void work(struct verify_sample *s, uint64_t *hit)
{
	static const uint64_t lengths[] = { 1000, 20000, 400000, 3000000 };

	for (size_t i = 0; i < SAMPLES; i++) {
		uint64_t length = lengths[i % ARRAY_SIZE(lengths)];
		uint64_t inside = chance(100) < length / 40000 + 1 ? 1 + chance(3) : 0;

		s[i] = (struct verify_sample){ .length = length, .expects = true, .expected = 2 * length, .count = 2 * length,
					       .ns = length + 500, .enabled_ns = length + 600, .running_ns = length + 600 };
		hit[i] = inside;
		s[i].interrupts = inside + (chance(10) == 0); /* one beside the work is seen, too */
		if (i % 5 == 4) {
			s[i].faults = 16 + 16 * (i % 3);
			s[i].expected = s[i].count = 600;
		}
	}
}

static void plant(enum verify_verdict fault, struct verify_sample *s, const uint64_t *hit)
{
	uint64_t fixed = chance(2) ? 0 : 1 + chance(300), per_fault = 1 + chance(3);
	double factor = chance(2) ? 2 + (double)chance(6) : 0.1 + 0.1 * (double)chance(8);
	size_t stop = 2 + chance(SAMPLES / 2);

	if (fault == VERIFY_FIXED && !fixed)
		fixed = 7;
	if (fault == VERIFY_EXACT)
		fixed = 0;
	for (size_t i = 0; i < SAMPLES; i++) {
		s[i].count += fixed;
		switch (fault) {
		case VERIFY_FAULTS:
			s[i].count += per_fault * s[i].faults;
			break;
		case VERIFY_INTERRUPTS:
			s[i].count += hit[i];
			break;
		case VERIFY_NOISY:
			s[i].count += chance(40) + s[i].count * chance(100) / 20000;
			break;
		case VERIFY_UNDER:
			s[i].count -= fixed + s[i].count * (1 + chance(40)) / 5000;
			break;
		case VERIFY_FACTOR:
			s[i].count = (uint64_t)((double)(s[i].count - fixed) * factor);
			break;
		case VERIFY_MULTIPLEXED:
			s[i].running_ns = i % 3 ? s[i].enabled_ns : s[i].enabled_ns * (1 + chance(90)) / 100;
			s[i].count = s[i].count * s[i].running_ns / s[i].enabled_ns;
			break;
		case VERIFY_IMPOSSIBLE:
			s[i].count = s[i].ns * (200 + chance(1000));
			break;
		case VERIFY_WIDTH:
			if (i == stop)
				s[i].count -= 1ull << (chance(2) ? 32 : 40);
			break;
		case VERIFY_FROZEN:
			s[i].count = i < stop ? s[i].count : 0;
			break;
		case VERIFY_DEAD:
			s[i].count = 0;
			break;
		case VERIFY_UNTESTED:
			s[i].expects = false;
			break;
		case VERIFY_UNAVAILABLE:
			s[i].count = s[i].running_ns = 0;
			break;
		default:
			break;
		}
	}
}

/* Without an interrupt, one for each of them is nothing. */
static bool shows(enum verify_verdict fault, const uint64_t *hit)
{
	bool any = fault != VERIFY_INTERRUPTS;

	for (size_t i = 0; i < SAMPLES; i++)
		any |= hit[i] > 0;
	return any;
}

TEST(every_planted_fault_is_found_and_nothing_else_blamed)
{
	unsigned said[VERIFY_VERDICTS][VERIFY_VERDICTS] = { { 0 } }, right = 0, all = 0;

	state = 88172645463325252ull;
	for (unsigned m = 0; m < MACHINES; m++) {
		enum verify_verdict fault = (enum verify_verdict)(m % VERIFY_VERDICTS);
		struct verify_sample s[SAMPLES];
		uint64_t hit[SAMPLES];
		struct verify_result r;

		work(s, hit);
		plant(fault, s, hit);
		if (!shows(fault, hit))
			continue;
		r = verify_judge(s, SAMPLES);
		said[fault][r.verdict]++;
		all++;
		right += r.verdict == fault;
		if (verify_trusted(&r))
			CHECK(fault == VERIFY_EXACT || fault == VERIFY_FIXED, "machine %u: %s is called %s", m, verify_names[fault],
			      verify_names[r.verdict]);
	}
	for (unsigned i = 0; i < VERIFY_VERDICTS; i++)
		for (unsigned k = 0; k < VERIFY_VERDICTS; k++)
			if (said[i][k])
				printf("# planted %-18s found %-18s %u\n", verify_names[i], verify_names[k], said[i][k]);
	printf("# right: %u of %u\n", right, all);
	CHECK(right * 1000 >= all * 995, "%u of %u", right, all);
}

TEST(what_is_taken_off_is_right)
{
	struct verify_sample s[SAMPLES];
	uint64_t hit[SAMPLES];
	struct verify_result r;

	state = 12345;
	work(s, hit);
	for (size_t i = 0; i < SAMPLES; i++)
		s[i].count += 42 + 3 * s[i].faults + hit[i];
	r = verify_judge(s, SAMPLES);
	CHECK_EQ(r.verdict, VERIFY_INTERRUPTS, "interrupts and faults");
	CHECK_EQ(r.fixed, 42, "fixed");
	CHECK_EQ(r.per_fault, 3, "per fault");
	CHECK_EQ(r.per_interrupt, 1u, "per interrupt");
}

/* Three samples, written out; what is said of them, to the number. */
static const struct {
	int line;
	struct verify_sample s[3];
	enum verify_verdict verdict;
	const char *words;
} literal[] = {
	{ __LINE__, { { 0, true, 20000, 60000 }, { 0, true, 40000, 120000 }, { 0, true, 2, 6 } }, VERIFY_FACTOR, "3 times what the work was" },
	{ __LINE__, { { 0, true, 20000, 18000 }, { 0, true, 40000, 39000 }, { 0, true, 2, 2 } }, VERIFY_UNDER, "too few: down to 0.9375 of the work" },
	{ __LINE__, { { 0, true, 100, 100 }, { 0, true, 200, 207 }, { 0, true, 300, 303 } }, VERIFY_NOISY, "different each time, by up to 7" },
	{ __LINE__, { { 0, true, 100, 105 }, { 0, true, 200, 205 }, { 0, true, 300, 308, .interrupts = 4 } }, VERIFY_INTERRUPTS,
	  "3 too many in all, with 4 interrupts meanwhile; else exact" },
	{ __LINE__, { { 0, true, 100, 109, .interrupts = 4 }, { 0, true, 200, 205 }, { 0, true, 300, 305 } }, VERIFY_INTERRUPTS,
	  "4 too many in all, with 4 interrupts meanwhile; else exact" },
	{ __LINE__, { { 0, true, 100, 105 }, { 0, true, 200, 205 }, { 0, true, 300, 308, .interrupts = 0 } }, VERIFY_NOISY,
	  "different each time, by up to 3" },
	{ __LINE__, { { 0, true, 100, 107 }, { 0, true, 200, 207 }, { 0, true, 300, 347, .faults = 20 } }, VERIFY_FAULTS,
	  "2 too many for each page fault; else exact" },
	{ __LINE__, { { 0, true, 100, 107 }, { 0, true, 200, 207 }, { 0, true, 300, 340, .faults = 20, .by_itself = true } }, VERIFY_FAULTS,
	  "2 too many for each page fault; else exact" },
	{ __LINE__, { { 0, true, 100, 100 }, { 0, true, 200, 200 }, { 0, true, 300, 280, .faults = 20 } }, VERIFY_FAULTS,
	  "-1 too many for each page fault; else exact" },
	{ __LINE__, { { 0, true, 100, 107 }, { 0, true, 200, 207 }, { 0, false, 0, 9 } }, VERIFY_FIXED,
	  "exact after 7 are taken off, which each reading adds" },
	{ __LINE__, { { 0, true, 0, 0 }, { 0, true, 200, 200 }, { 0, true, 300, 300 } }, VERIFY_EXACT, "each time what the work was" },
	{ __LINE__, { { 0, true, 100, 100 }, { 0, true, 200, 0 }, { 0, true, 300, 0 } }, VERIFY_FROZEN, "it counted at first, and then no more" },
	{ __LINE__, { { 0, true, 100, 1ull << 60 }, { 0, true, 200, 200 }, { 0, true, 300, 300 } }, VERIFY_WIDTH,
	  "it went backwards: its number of bits is taken for another" },
	{ __LINE__, { { 0, true, 100, 50, 0, 10, 5 }, { 0, true, 200, 100, 0, 10, 5 }, { 0, true, 300, 150, 0, 10, 5 } }, VERIFY_MULTIPLEXED,
	  "on a counter for 50 % of the time: other events, or the watchdog, hold counters" },
	{ __LINE__, { { 0, true, 100, 2020000, 20000 }, { 0, true, 200, 200 }, { 0, true, 300, 300 } }, VERIFY_IMPOSSIBLE,
	  "more than any processor does in that time" },
	{ __LINE__, { { 0, true, 100, 0 }, { 0, true, 200, 0 }, { 0, true, 300, 0 } }, VERIFY_DEAD, "0, whatever was done" },
	{ __LINE__, { { 0, false, 0, 1 }, { 0, false, 0, 2 }, { 0, false, 0, 3 } }, VERIFY_UNTESTED,
	  "it moves; what it should count is not known here" },
};

TEST(what_is_said_of_three_samples)
{
	for (size_t i = 0; i < ARRAY_SIZE(literal); i++) {
		const struct verify_result r = verify_judge(literal[i].s, 3);
		struct text t = { 0 };

		verify_words(&t, &r);
		CHECK(r.verdict == literal[i].verdict, "row at line %d: %s", literal[i].line, verify_names[r.verdict]);
		CHECK(!strcmp(t.s, literal[i].words), "row at line %d: %s", literal[i].line, t.s);
		text_free(&t);
	}
}

TEST(nothing_was_counted)
{
	CHECK_EQ(verify_judge(NULL, 0).verdict, VERIFY_UNAVAILABLE, "no samples");
}

TEST(each_verdict_has_words)
{
	for (unsigned v = 0; v < VERIFY_VERDICTS; v++) {
		const struct verify_result r = { .verdict = (enum verify_verdict)v, .factor = 2, .share = 0.5 };
		struct text t = { 0 };

		verify_words(&t, &r);
		CHECK(verify_names[v] && t.len > 3, "verdict %u", v);
		text_free(&t);
	}
}

TEST_MAIN()
