/* SPDX-License-Identifier: MIT */
/* What tare record says at the end, of outcomes made by hand. */
#include <string.h>
#include "base/error.h"
#include "base/text.h"
#include "tap.h"
#include "view/record_view.h"

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
		{ __LINE__, 900, 100000, 100 * MS, 0, 0, 0, true, false, 1, false },	 /* a tenth, not more */
		{ __LINE__, 899, 100000, 100 * MS, 0, 0, 0, true, false, 1, true },
		{ __LINE__, 20700, 10000, 200 * MS, 0, 0, 0, true, false, 1, false },	 /* less than is in samples: read later */
		{ __LINE__, 20700, 10000, 359 * MS, 0, 0, 0, false, false, 1, false },
		{ __LINE__, 20700, 10000, 359 * MS, 0, 1, 0, true, false, 1, false },
		{ __LINE__, 20700, 10000, 359 * MS, 0, 0, 1, true, false, 1, false },
		{ __LINE__, 20700, 10000, 359 * MS, 0, 0, 0, true, true, 1, false },
		{ __LINE__, 20700, 10000, 359 * MS, 0, 0, 0, true, false, 0.5, false },
		{ __LINE__, 2, 250000, 3 * MS, 8, 0, 0, true, false, 1, false },	 /* ten pieces of up to 250 us may be in none */
		{ __LINE__, 2, 250000, 3 * MS + 1, 8, 0, 0, true, false, 1, true },
		{ __LINE__, 0, 0, 100 * MS, 0, 0, 0, true, false, 1, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sample_tally t = { .name = "cpu-clock", .samples = rows[i].samples, .period_sum = rows[i].samples * rows[i].period,
					  .total.value = rows[i].counted, .clock = rows[i].clock, .share = rows[i].share };
		struct sample_outcome o = { .event = &t, .n_events = 1, .lost = rows[i].lost, .throttled = rows[i].throttled, .forks = rows[i].forks,
					    .rings.n = 2, .broke_off = rows[i].broke_off, .wall_ns = 100 * MS };
		struct text out = { 0 };

		record_view(&out, &o, "f", 1024, false, &(struct style){ .width = 160 });
		CHECK_EQ(out.s && strstr(out.s, "did not keep up"), rows[i].told, "row at line %d: %s", rows[i].line, out.s ? out.s : "");
		if (i == 0)
			CHECK(out.s && strstr(out.s, "  of 359.00 ms of CPU time 207.00 ms are in samples: the timer did not keep up with one every 10.0 us\n"), "%s",
			      out.s ? out.s : "");
		text_free(&out);
	}
}

TEST_MAIN()
