/* SPDX-License-Identifier: MIT */
/* The summary at the end of tare record, for hand-written outcomes. */
#include <string.h>
#include "base/error.h"
#include "base/text.h"
#include "tap.h"
#include "sample/record_view.h"

#define MS 1000000ull

TEST(a_timer_that_does_not_keep_up_is_told)
{
	static const struct {
		int line;
		uint64_t samples, period, counted, forks, lost, throttled;
		bool clock, broke_off;
		double share;
		bool told;
	} rows[] = {
		{ __LINE__, 20700, 10000, 359 * MS, 0, 0, 0, true, false, 1, true },
		{ __LINE__, 20700, 10000, 207 * MS, 0, 0, 0, true, false, 1, false },
		{ __LINE__, 900, 100000, 100 * MS, 0, 0, 0, true, false, 1,
		  false }, /* exactly a tenth */
		{ __LINE__, 899, 100000, 100 * MS, 0, 0, 0, true, false, 1, true },
		{ __LINE__, 20700, 10000, 200 * MS, 0, 0, 0, true, false, 1,
		  false }, /* less than is in samples: it was read later */
		{ __LINE__, 20700, 10000, 359 * MS, 0, 0, 0, false, false, 1, false },
		{ __LINE__, 20700, 10000, 359 * MS, 0, 1, 0, true, false, 1, true },
		{ __LINE__, 20700, 10000, 359 * MS, 0, 15200, 0, true, false, 1,
		  false }, /* they were taken, and lost */
		{ __LINE__, 20700, 10000, 359 * MS, 0, 0, 1, true, false, 1, false },
		{ __LINE__, 20700, 10000, 359 * MS, 0, 0, 0, true, true, 1, false },
		{ __LINE__, 20700, 10000, 359 * MS, 0, 0, 0, true, false, 0.5, false },
		{ __LINE__, 2, 250000, 3 * MS, 8, 0, 0, true, false, 1,
		  false }, /* ten intervals of up to 250 us may be in no sample */
		{ __LINE__, 2, 250000, 3 * MS + 1, 8, 0, 0, true, false, 1, true },
		{ __LINE__, 0, 0, 100 * MS, 0, 0, 0, true, false, 1, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sample_tally t = { .name = "cpu-clock",
					  .samples = rows[i].samples,
					  .period_sum = rows[i].samples * rows[i].period,
					  .total.value = rows[i].counted,
					  .clock = rows[i].clock,
					  .share = rows[i].share };
		struct sample_outcome o = { .event = &t,
					    .n_events = 1,
					    .lost = rows[i].lost,
					    .throttled = rows[i].throttled,
					    .forks = rows[i].forks,
					    .rings.n = 2,
					    .broke_off = rows[i].broke_off,
					    .wall_ns = 100 * MS };
		struct text out = { 0 };

		record_view(&out, &o, "f", 1024, false, &(struct style){ .width = 160 });
		CHECK_EQ(out.s && strstr(out.s, "was too slow for"), rows[i].told,
			 "row at line %d: %s", rows[i].line, out.s ? out.s : "");
		if (i == 0)
			CHECK(out.s &&
				      strstr(out.s,
					     "  the samples represent only 207.00 ms of 359.00 ms of CPU time: the timer was too slow for one every 10.0 us\n"),
			      "%s", out.s ? out.s : "");
		text_free(&out);
	}
}

/*
 * Two sampling events, one that is read with them, and one for side-band records: the accuracy of
 * each depends on its own samples.
 */
TEST(each_event_is_known_by_its_own_samples)
{
	struct sample_tally t[] = {
		{ .name = "cpu-clock",
		  .samples = 1392,
		  .period_sum = 1392000,
		  .total.value = 1392500,
		  .share = 1 },
		{ .name = "page-faults",
		  .samples = 10,
		  .period_sum = 40,
		  .total.value = 45,
		  .share = 1 },
		{ .name = "migrations",
		  .samples = 9,
		  .period_sum = 9,
		  .total.value = 9,
		  .share = 1 },
		{ .name = "instructions", .member = true, .total.value = 1000000, .share = 1 },
		{ .name = "dummy:u", .share = 1 },
	};
	static const struct {
		int line;
		size_t n;
		uint64_t lost;
		const char *has;
	} rows[] = {
		{ __LINE__, 5, 0, "tare record: 1411 samples in " },
		{ __LINE__, 5, 0,
		  "\n  1392 of cpu-clock: a share of 10 % is known to +- 1.6 points (95 %)\n"
		  "  10 of page-faults: too few to estimate shares\n"
		  "  9 of migrations: every event was sampled, so shares are exact\n"
		  "  none lost\n" },
		/* All losses may be of one event. */
		{ __LINE__, 5, 100,
		  "\n  1392 of cpu-clock: a share of 10 % is known to +- 8.3 points (95 %)\n" },
		{ __LINE__, 5, 100, "\n  9 of migrations: too few to estimate shares\n" },
		{ __LINE__, 5, 100, " 6.6 % of all; if mappings" },
		{ __LINE__, 1, 0,
		  ")\n  none lost; a share of 10 % is known to +- 1.6 points (95 %)\n" },
		{ __LINE__, 1, 100,
		  " 6.7 % of all, so a share may be wrong by as many points; if mappings" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sample_outcome o = {
			.event = t, .n_events = rows[i].n, .lost = rows[i].lost, .wall_ns = 100 * MS
		};
		struct text out = { 0 };

		record_view(&out, &o, "f", 1024, false, &(struct style){ .width = 160 });
		CHECK(out.s && strstr(out.s, rows[i].has), "row at line %d: %s", rows[i].line,
		      out.s ? out.s : "");
		text_free(&out);
	}
}

/* The samples of the exact engine, in words. */
TEST(every_one_of_the_exact_engine)
{
	static const struct {
		uint64_t period;
		bool jitter;
		const char *says;
	} rows[] = {
		{ 1, true, "every one of exact/accesses/; 9 in total\n" },
		{ 2, false, "every 2 of exact/accesses/; 9 in total\n" },
		{ 4, true, "every 4 on average of exact/accesses/; 9 in total\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sample_tally t = { .name = "exact/accesses/",
					  .samples = 9,
					  .period_sum = 9,
					  .total.value = 9,
					  .share = 1 };
		struct sample_outcome o = { .event = &t,
					    .n_events = 1,
					    .exact = true,
					    .period = rows[i].period,
					    .jitter = rows[i].jitter,
					    .wall_ns = 100 * MS };
		struct text out = { 0 };

		record_view(&out, &o, "f", 1024, false, &(struct style){ .width = 160 });
		CHECK(out.s && strstr(out.s, rows[i].says), "period %d: %s", (int)rows[i].period,
		      out.s ? out.s : "");
		text_free(&out);
	}
}

/* Samples of every occurrence have no sampling error; if one is missing they may have. */
TEST(a_census_is_exact)
{
	static const struct {
		int line;
		uint64_t period_sum, counted, lost, throttled;
		double share;
		bool told;
	} rows[] = {
		{ __LINE__, 900, 900, 0, 0, 1, true },  { __LINE__, 901, 900, 0, 0, 1, false },
		{ __LINE__, 900, 901, 0, 0, 1, false }, { __LINE__, 900, 900, 1, 0, 1, false },
		{ __LINE__, 900, 900, 0, 1, 1, false }, { __LINE__, 900, 900, 0, 0, 0.5, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sample_tally t = { .name = "page-faults",
					  .samples = 900,
					  .period_sum = rows[i].period_sum,
					  .total.value = rows[i].counted,
					  .share = rows[i].share };
		struct sample_outcome o = { .event = &t,
					    .n_events = 1,
					    .lost = rows[i].lost,
					    .throttled = rows[i].throttled,
					    .wall_ns = 100 * MS };
		struct text out = { 0 };

		record_view(&out, &o, "f", 1024, false, &(struct style){ .width = 160 });
		CHECK_EQ(out.s && strstr(out.s, "shares are exact"), rows[i].told,
			 "row at line %d: %s", rows[i].line, out.s ? out.s : "");
		CHECK_EQ(out.s && strstr(out.s, "is known to"), !rows[i].told, "row at line %d: %s",
			 rows[i].line, out.s ? out.s : "");
		text_free(&out);
	}
}

TEST_MAIN()
