/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "tap.h"
#include "view/explain_view.h"

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
		{ __LINE__, 3, 0.25, "", false },	/* it is there still */
		{ __LINE__, -1, 0.25, "", false }, /* not tried */
		{ __LINE__, 0, 0.25, "two runs part", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text out = { 0 };

		row.budget = (struct budget){ .state = BUDGET_SPLIT, .n = 8, .deviation = 5, .max = 12, .fixed_deviation = rows[i].fixed, .left = rows[i].left };
		strcpy(row.place, rows[i].place);
		explain_text(&out, &e, &plain);
		CHECK_EQ(strstr(out.s, "gone with everything fixed") != NULL, rows[i].said, "row at line %d: %s", rows[i].line, out.s);
		text_free(&out);
	}
}

TEST(one_run_has_one_number)
{
	struct explained_row row = { .name = "context-switches", .unit = "", .scale = 1,
				     .budget = { .state = BUDGET_SPLIT, .n = 8, .deviation = 0.354, .max = 1, .left = 1, .alone = true, .alone_run = 1, .alone_share = 1 } };
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

TEST_MAIN()
