/* SPDX-License-Identifier: MIT */
/* Two counts side by side, as text and JSON. */
#include "stat/cross_check_view.h"
#include "tap.h"

static const struct cross_check_row rows[] = {
	{ .name = "instructions:u",
	  .n = { 5, 5 },
	  .mean = { 1234567, 1234567 },
	  .q = 1,
	  .verdict = CROSS_CHECK_EQUAL },
	{ .name = "cycles",
	  .n = { 5, 5 },
	  .mean = { 2000000, 2000100.5 },
	  .test = { .change = 100.5, .half = 4000, .p = 0.9 },
	  .q = 0.9,
	  .verdict = CROSS_CHECK_AGREE },
	{ .name = "branches",
	  .n = { 5, 5 },
	  .mean = { 1000, 990 },
	  .test = { .change = -10, .half = 2, .p = 0.001 },
	  .q = 0.004,
	  .verdict = CROSS_CHECK_DIFFER },
	{ .name = "none", .n = { 5, 5 }, .mean = { 0, 0 }, .q = 1, .verdict = CROSS_CHECK_EQUAL },
	{ .name = "r01c2",
	  .n = { 1, 1 },
	  .mean = { 10, 12 },
	  .test = { .change = 2 },
	  .q = 1,
	  .verdict = CROSS_CHECK_UNTESTED },
	{ .name = "r02c2",
	  .n = { 5, 0 },
	  .verdict = CROSS_CHECK_UNKNOWN,
	  .why = "perf: it was on a counter for 50.0 % of the time" },
};
static const struct cross_check_view view = { .row = rows,
					      .n = ARRAY_SIZE(rows),
					      .argv = (char *[]){ (char[]){ "true" }, NULL },
					      .via = "module" };

TEST(for_people)
{
	const struct style s = { .thousands = true, .utf8 = true, .width = 160 };
	struct text out = { 0 };

	cross_check_text(&out, &view, &s);
	CHECK_STR(
		out.s,
		"\n Registers (module) against perf, in interleaved runs: 5 of each\n\n"
		" registers         perf  difference              (95 %)  event           verdict\n"
		" 1,234,567    1,234,567           0         0 %    ±0 %  instructions:u  equal in every run\n"
		" 2,000,000  2,000,100.5      +100.5  +0.00502 %  ±0.2 %  cycles          agree: the runs differ as much\n"
		"     1,000          990         -10        -1 %  ±0.2 %  branches        DIFFER beyond the noise\n"
		"         0            0           0                      none            equal in every run\n"
		"        10           12          +2       +20 %          r01c2           not judged: -r 5 shows how much runs differ\n"
		"                                                         r02c2           no number: perf: it was on a counter for 50.0 % of the time\n"
		"\n");
	text_free(&out);
}

TEST(for_programs)
{
	struct text out = { 0 };

	cross_check_json(&out, &view);
	CHECK(strstr(out.s, "\"difference\": 100.5,") && strstr(out.s, "\"percent\": -1,"), "%s",
	      out.s);
	CHECK(strstr(out.s, "\"half\": 4000,\n") && strstr(out.s, "\"half_percent\": 0.2"),
	      "in percent, as in the text: %s", out.s);
	CHECK(strstr(out.s, "\"verdict\": \"untested\"") &&
		      strstr(out.s, "\"reason\": \"perf: it was"),
	      "%s", out.s);
	CHECK(strstr(out.s, "\"mean\": null"), "null if there is no number: %s", out.s);
	text_free(&out);
}

TEST_MAIN()
