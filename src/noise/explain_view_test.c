/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "tap.h"
#include "noise/explain_view.h"

TEST(what_is_gone_with_everything_fixed)
{
	struct explained_row row = { .name = "page-faults:u", .unit = "", .scale = 1 };
	struct explained e = { .row = &row, .n = 1, .runs = 8, .conditions = 2 };
	const struct style plain = { 0 };
	static const struct {
		int line;
		double fixed, left;
		const char *place;
		bool said;
	} rows[] = {
		{ __LINE__, 0, 0.25, "", true },
		{ __LINE__, 0, 0, "", false },
		{ __LINE__, 3, 0.25, "", false },  /* it is still there */
		{ __LINE__, -1, 0.25, "", false }, /* not tried */
		{ __LINE__, 0, 0.25, "two runs part", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text out = { 0 };

		row.budget = (struct budget){ .state = BUDGET_SPLIT,
					      .n = 8,
					      .deviation = 5,
					      .max = 12,
					      .fixed_deviation = rows[i].fixed,
					      .left = rows[i].left };
		strcpy(row.place, rows[i].place);
		explain_text(&out, &e, &plain);
		CHECK_EQ(strstr(out.s, "gone with everything fixed") != NULL, rows[i].said,
			 "row at line %d: %s", rows[i].line, out.s);
		text_free(&out);
	}
}

TEST(more_alone_than_in_all)
{
	static const struct {
		double alone;
		const char *words;
	} rows[] = { { 1270, "alone a standard deviation of 1,270, in runs of its own\n" },
		     { 700, "alone a standard deviation of 700\n" } };
	const struct style plain = { .thousands = true };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct budget_part part = { .causes = 1,
					    .switched = true,
					    .deviation = rows[i].alone,
					    .share = 0.92,
					    .low = 0.7,
					    .high = 1 };
		struct explained_row row = { .name = "instructions:u",
					     .unit = "",
					     .scale = 1,
					     .budget = { .state = BUDGET_SPLIT,
							 .n = 8,
							 .deviation = 802,
							 .max = 2000,
							 .parts = 1,
							 .part[0] = part } };
		struct explained e = { .row = &row, .n = 1, .runs = 8 };
		struct text out = { 0 };

		explain_text(&out, &e, &plain);
		CHECK(strstr(out.s, rows[i].words), "%s", out.s);
		text_free(&out);
	}
}

TEST(one_run_has_one_number)
{
	struct explained_row row = { .name = "context-switches",
				     .unit = "",
				     .scale = 1,
				     .budget = { .state = BUDGET_SPLIT,
						 .n = 8,
						 .deviation = 0.354,
						 .max = 1,
						 .left = 1,
						 .alone = true,
						 .alone_run = 1,
						 .alone_share = 1 } };
	struct explained e = { .row = &row, .n = 1, .runs = 8 };
	const struct style plain = { 0 };
	struct json j = { 0 };
	struct text out = { 0 };

	explain_text(&out, &e, &plain);
	CHECK(strstr(out.s, "Run 2 alone makes "), "%s", out.s);
	text_free(&out);
	explain_json(&j, &e);
	json_into(&out, &j);
	CHECK(strstr(out.s, "\"run\": 2,"), "%s", out.s);
	text_free(&out);
}

TEST(what_differed_is_told_with_the_place)
{
	struct explained_row row = { .name = "instructions:u",
				     .unit = "",
				     .scale = 1,
				     .place = "two runs part in main",
				     .cause_kind = "ticks" };
	struct explained e = { .row = &row, .n = 1, .runs = 8 };
	const struct style plain = { 0 };
	struct json j = { 0 };
	struct text out = { 0 }, document = { 0 };

	row.budget = (struct budget){ .state = BUDGET_SPLIT,
				      .n = 8,
				      .deviation = 5,
				      .max = 12,
				      .fixed_deviation = 5,
				      .left = 1,
				      .left_low = 0.9,
				      .left_high = 1 };
	explain_text(&out, &e, &plain);
	CHECK(strstr(out.s, "unexplained: two runs part in main\n") != NULL, "without: %s", out.s);
	text_free(&out);
	strcpy(row.cause, "the clock");
	explain_text(&out, &e, &plain);
	CHECK(strstr(out.s, "unexplained: two runs part in main, by the clock\n") != NULL,
	      "with it: %s", out.s);
	json_object(&j, NULL);
	explain_json(&j, &e);
	json_end(&j);
	json_into(&document, &j);
	CHECK(strstr(document.s, "\"ticks\"") && strstr(document.s, "the clock"), "%s", document.s);
	CHECK(strstr(document.s, "\"unexplained: two runs part in main, by the clock\""), "%s",
	      document.s);
	text_free(&out);
	text_free(&document);
}

TEST(shares_that_may_be_anything_are_not_told)
{
	static const struct {
		int line;
		double low, high, left_low, left_high;
		const char *place;
		bool told;
	} rows[] = {
		{ __LINE__, 0, 1, 0, 1, "", false },
		{ __LINE__, 0, 1, 0, 0.5, "", true },
		{ __LINE__, 0.5, 1, 0, 1, "", true },
		{ __LINE__, 0, 1, 0, 1, "two runs part", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct explained_row row = { .name = "page-faults:u", .unit = "", .scale = 1 };
		struct explained e = { .row = &row, .n = 1, .runs = 8 };
		const struct style plain = { 0 };
		struct text out = { 0 };

		row.budget = (struct budget){ .state = BUDGET_SPLIT,
					      .n = 8,
					      .deviation = 5,
					      .max = 12,
					      .fixed_deviation = -1,
					      .parts = 1,
					      .left_low = rows[i].left_low,
					      .left_high = rows[i].left_high };
		row.budget.part[0].share = 1;
		row.budget.part[0].low = rows[i].low;
		row.budget.part[0].high = rows[i].high;
		row.budget.part[0].causes = 1;
		strcpy(row.place, rows[i].place);
		explain_text(&out, &e, &plain);
		CHECK_EQ(strstr(out.s, "unexplained") != NULL, rows[i].told, "row at line %d: %s",
			 rows[i].line, out.s);
		CHECK_EQ(strstr(out.s, "cannot be distinguished with 8 runs") == NULL, rows[i].told,
			 "row at line %d: %s", rows[i].line, out.s);
		text_free(&out);

		struct json j = { 0 };

		json_object(&j, NULL);
		explain_json(&j, &e);
		json_end(&j);
		json_into(&out, &j);
		CHECK_EQ(strstr(out.s, "\"undecided\": \"Its causes cannot") == NULL, rows[i].told,
			 "row at line %d: %s", rows[i].line, out.s);
		text_free(&out);
	}
}

TEST_MAIN()
