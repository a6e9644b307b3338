/* SPDX-License-Identifier: MIT */
/* What a report says about the precision of its shares. */
#include "tap.h"
#include "profile/report/report_view.h"

TEST(shares_are_told_as_well_as_they_are_known)
{
	static const struct {
		int line;
		uint64_t samples, amount;
		double lost;
		bool every;
		const char *says;
	} rows[] = {
		{ __LINE__, 10000, 10000, 0, false,
		  " A share of 10.00 % is known to +- 0.59 points (95 %): it is of 10000 samples.\n" },
		{ __LINE__, 10000, 10000, 0, true,
		  " Every event was sampled, so shares are exact.\n" },
		{ __LINE__, 1, 1, 0, true, " Every event was sampled, so shares are exact.\n" },
		{ __LINE__, 10000, 20000, 0, true,
		  " A share of 10.00 % is known to +- 0.83 points (95 %): it is of 10000 samples.\n" },
		{ __LINE__, 10000, 10000, 0.05, true,
		  " A share of 10.00 % is known to +- 5.59 points (95 %): it is of 10000 samples, and 5.0 % of all were lost.\n" },
		{ __LINE__, 10000, 10000, 0.757, false,
		  " Too many samples are missing to estimate shares: the recording has 10000 samples, and 76 % of all were lost.\n" },
		{ __LINE__, 3, 3, 0.98, true,
		  " Too many samples are missing to estimate shares: the recording has 3 samples, and 98 % of all were lost.\n" },
		{ __LINE__, 3, 3, 0, false,
		  " A share of 10.00 % is known to +- 31.78 points (95 %): it is of 3 samples.\n" },
	};
	const struct style s = { .width = 120 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct call_tree *st = call_tree_new(NULL);
		const struct report_options options = { 0 };
		struct samples samples = { .call_tree = st };
		struct report_shown shown = { .samples = &samples, .options = &options };
		struct text t = { 0 };

		call_tree_add_column(st, "page-faults", "");
		st->column[0].samples = rows[i].samples;
		st->column[0].amount = rows[i].amount;
		/* weighted like 5000 */
		st->column[0].squares = rows[i].amount > rows[i].samples ? 80000 : 0;
		st->column[0].lost = rows[i].lost;
		st->column[0].asked.every = rows[i].every;
		report_quality_text(&t, &shown, &s);
		CHECK(t.s && !strcmp(t.s + 1, rows[i].says), "row at line %d: %s", rows[i].line,
		      t.s ? t.s : "");
		text_free(&t);
		call_tree_free(st);
	}
}

TEST(one_remedy_for_missing_callers)
{
	static const char remedy[] = "--call-graph dwarf";
	const struct style s = { .width = 120 };

	for (unsigned broken = 0; broken < 2; broken++) {
		struct call_tree *st = call_tree_new(NULL);
		const struct report_options options = { 0 };
		struct samples samples = { .call_tree = st,
					   .quality = { .chains = 3, .broken = broken } };
		struct report_shown shown = { .samples = &samples, .options = &options };
		struct text t = { 0 };
		const char *first;

		call_tree_add_column(st, "cycles", "");
		report_quality_text(&t, &shown, &s);
		CHECK(t.s && strstr(t.s, "callers were found by frame pointers"), "the note");
		first = t.s ? strstr(t.s, remedy) : NULL;
		CHECK(first && !strstr(first + 1, remedy), "once: %s", t.s ? t.s : "");
		text_free(&t);
		call_tree_free(st);
	}
}

TEST_MAIN()
