/* SPDX-License-Identifier: MIT */
/*
 * The work as it is done, counted by a scripted PMU that knows what comes: verify_work() reads it before and after each
 * piece, in a known order. One fault is planted in each; the verdict must be that.
 */
#include <stdlib.h>
#include "analyze/verify.h"
#include "scripted.h"
#include "tap.h"

enum { PIECES = 9 }; /* of a round: five loops, two sizes of pages, each of these twice */

static const uint64_t turns[] = { 1, 1000, 20000, 400000, 2000000 };

/* What is wrong with the PMU. */
static struct {
	uint64_t fixed, per_fault, frozen_after, random;
	double factor;
	bool dead, shared, narrow, refused;
} fault;

static uint64_t total, pieces, chance;

static uint64_t work_of(uint64_t piece)
{
	uint64_t in_round = piece % PIECES, pages = in_round < 7 ? 16 : 48;

	if (in_round < ARRAY_SIZE(turns))
		return 2 * turns[in_round];
	return 40 + 4 * pages + (in_round % 2 ? fault.per_fault * pages : 0); /* 5 and 7 are the first touch */
}

static int read_pmu(const struct scripted_call *call, struct tare_reading *out)
{
	if (call->reads % 2) {
		uint64_t n = work_of(pieces);

		chance = chance * 6364136223846793005ull + 1;
		if (fault.random)
			n += chance >> 33 & (fault.random - 1);
		n = (uint64_t)((double)n * fault.factor) + fault.fixed;
		if (!fault.dead && (!fault.frozen_after || pieces < fault.frozen_after))
			total += n;
		pieces++;
	}
	out->raw = fault.narrow ? total & 0xfffff : total;
	out->enabled_ns = 1000000 * (call->reads + 1ull);
	out->running_ns = fault.shared ? out->enabled_ns / 2 : out->enabled_ns;
	return 0;
}

static int refuse(const struct scripted_call *call, struct tare_error *err)
{
	(void)call;
	return fault.refused ? tare_fail(err, EBUSY, "all counters are held") : 0;
}

static struct verify_result verdict_on_script(int *ret)
{
	struct encoding e = { .name = "instructions:u", .source = "scripted", .scale = 1 };
	struct verify_sample samples[VERIFY_SAMPLES_MOST];
	struct tare_error err = TARE_ERROR_INIT;
	bool known;

	e.attr.type = PERF_TYPE_HARDWARE;
	e.attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	e.attr.exclude_kernel = 1;
	total = pieces = chance = 0;
	scripted_open = refuse;
	scripted_read = read_pmu;
	*ret = verify_work(samples, &e, &source_scripted, &known, &err);
	CHECK_EQ(scripted_open_now, 0u, "closed again");
	return verify_judge(samples, *ret > 0 ? (size_t)*ret : 0);
}

static const struct {
	const char *what;
	enum verify_verdict verdict;
	uint64_t fixed, per_fault, frozen_after, random;
	double factor;
	bool dead, shared, narrow;
} rows[] = {
	{ "right", VERIFY_EXACT, .factor = 1 },
	{ "30 for each reading", VERIFY_FIXED, .fixed = 30, .factor = 1 },
	{ "1 for each fault", VERIFY_FAULTS, .per_fault = 1, .factor = 1 },
	{ "both", VERIFY_FAULTS, .fixed = 11, .per_fault = 2, .factor = 1 },
	{ "twice", VERIFY_FACTOR, .factor = 2 },
	{ "half", VERIFY_FACTOR, .factor = 0.5 },
	{ "dead", VERIFY_DEAD, .factor = 1, .dead = true },
	{ "shared", VERIFY_MULTIPLEXED, .factor = 1, .shared = true },
	{ "20 bits", VERIFY_WIDTH, .factor = 1, .narrow = true },
	{ "frozen in the second pass", VERIFY_FROZEN, .frozen_after = 6 * PIECES + 12, .factor = 1 },
};

TEST(each_planted_fault_is_named)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct verify_result r;
		int n;

		memset(&fault, 0, sizeof(fault));
		fault.fixed = rows[i].fixed;
		fault.per_fault = rows[i].per_fault;
		fault.frozen_after = rows[i].frozen_after;
		fault.factor = rows[i].factor;
		fault.dead = rows[i].dead;
		fault.shared = rows[i].shared;
		fault.narrow = rows[i].narrow;
		r = verdict_on_script(&n);
		CHECK(n > 0, "%s: %d", rows[i].what, n);
		CHECK(r.verdict == rows[i].verdict, "%s: %s, not %s", rows[i].what, verify_names[r.verdict], verify_names[rows[i].verdict]);
		if (r.verdict == VERIFY_FIXED || r.verdict == VERIFY_FAULTS) {
			CHECK_EQ(r.fixed, (int64_t)rows[i].fixed, "%s", rows[i].what);
			CHECK_EQ(r.per_fault, (int64_t)rows[i].per_fault, "%s", rows[i].what);
		}
		CHECK_EQ(verify_trusted(&r), rows[i].verdict == VERIFY_EXACT || rows[i].verdict == VERIFY_FIXED, "%s", rows[i].what);
	}
}

/* It may look like interrupts where there were enough of them, but never exact. */
TEST(noise_is_not_exact)
{
	struct verify_result r;
	int n;

	memset(&fault, 0, sizeof(fault));
	fault.factor = 1;
	fault.random = 1 << 16;
	r = verdict_on_script(&n);
	CHECK(r.verdict == VERIFY_NOISY, "%s", verify_names[r.verdict]);
	CHECK(r.spread > 1000, "%llu", (unsigned long long)r.spread);
}

TEST(an_event_that_cannot_be_opened)
{
	int n;

	memset(&fault, 0, sizeof(fault));
	fault.refused = true;
	verdict_on_script(&n);
	CHECK_EQ(n, -EBUSY, "the reason is passed on");
}

TEST_MAIN()
