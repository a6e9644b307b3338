/* SPDX-License-Identifier: MIT */
/* Registers and perf with literal counts per run, and the expected verdicts. */
#include <stdlib.h>
#include <string.h>
#include "stat/cross_check.h"
#include "stat/stat.h"
#include "scripted.h"
#include "tap.h"

/* By event (its config): the count of each side in its run number r. */
static uint64_t (*counted)(uint64_t event, enum cross_check_side side, unsigned r);
static unsigned turn[CROSS_CHECK_SIDES];
static uint64_t spoilt; /* an event that perf counts for half of the time */

static enum cross_check_side side_of(const struct encoding *e)
{
	return e->source == &source_msr ? CROSS_CHECK_MSR : CROSS_CHECK_PERF;
}

static int answer(const struct scripted_call *call, struct tare_reading *out)
{
	enum cross_check_side side = side_of(call->enc);

	*out = (struct tare_reading){ .raw = counted(call->enc->attr.config, side, turn[side]),
				      .enabled_ns = 1000,
				      .running_ns = 1000,
				      .quality = TARE_COUNTED };
	if (spoilt == call->enc->attr.config && side == CROSS_CHECK_PERF) {
		out->running_ns = 500;
		out->quality = TARE_SCALED;
	}
	return 0;
}

/* Events 1..n, `runs` of each side, interleaved: separate sessions with a common summary. */
static struct cross_check_row *judge(unsigned n, unsigned runs, size_t *rows, struct summary **keep)
{
	struct encoding_list list = { .enc = calloc(n, sizeof(struct encoding)),
				      .n = n,
				      .groups = n };
	struct tare_error err = TARE_ERROR_INIT;
	struct stat_outcome outcome;
	struct summary_options how = { .by = BY_ALL };
	struct stat_plan plan = { .events = &list,
				  .argv = (char *[]){ (char[]){ "true" }, NULL },
				  .launcher = &launch_plain,
				  .runs = 1,
				  .source = &source_scripted };
	struct cross_check_row *out;
	bool only[2 * 8];

	for (unsigned i = 0; i < n; i++) {
		struct encoding *e = &list.enc[i];

		*e = (struct encoding){ .source = &source_msr,
					.scale = 1,
					.event = i,
					.group = i,
					.attr.config = i + 1 };
		snprintf(e->name, sizeof(e->name), "event%u", i + 1);
	}
	CHECK_EQ(cross_check_add(&list, &err), 0, "%s", err.what);
	CHECK_EQ(list.n, 2 * n, "each twice");
	CHECK(list.enc[n].source == &source_perf, "the second time by perf");
	CHECK_EQ(list.enc[n].group, n, "in a group of its own");
	*keep = summary_new(&how, &err);
	summary_amend(*keep, list.enc, list.n, &err);
	scripted_read = answer;
	memset(turn, 0, sizeof(turn));
	plan.only = only;
	for (unsigned r = 0; r < 2 * runs; r++) {
		enum cross_check_side side = (r + 1) / 2 % 2 ? CROSS_CHECK_PERF : CROSS_CHECK_MSR;

		for (size_t i = 0; i < list.n; i++)
			only[i] = side_of(&list.enc[i]) == side;
		plan.first_run = r;
		CHECK_EQ(stat_run(&plan, summary_sink(*keep), &outcome, &err), 0, "%s", err.what);
		turn[side]++;
	}
	out = cross_check_judge(summary_table(*keep, &err), rows, &err);
	CHECK(out != NULL, "%s", err.what);
	encoding_list_free(&list);
	return out;
}

static uint64_t some(uint64_t event, enum cross_check_side side, unsigned r)
{
	const uint64_t noise[] = { 3, 0, 7, 5, 1, 6 };

	switch (event) {
	case 1: /* always equal */
		return 1000000;
	case 2: /* equal within the variation between runs */
		return 1000000 + 100 * noise[(r + 2 * (unsigned)side) % 6];
	case 3: /* perf counts 1 % more */
		return 1000000 + 100 * noise[r % 6] + (side == CROSS_CHECK_PERF ? 10000 : 0);
	default: /* one more, without variation between runs */
		return 5 + (side == CROSS_CHECK_PERF);
	}
}

TEST(verdicts)
{
	static const enum cross_check_verdict wanted[] = { CROSS_CHECK_EQUAL, CROSS_CHECK_AGREE,
							   CROSS_CHECK_DIFFER, CROSS_CHECK_DIFFER };
	struct summary *s;
	size_t n;

	counted = some;
	spoilt = 0;
	struct cross_check_row *row = judge(4, 6, &n, &s);

	CHECK_EQ(n, 4, "rows");
	for (size_t i = 0; row && i < 4; i++) {
		CHECK_EQ(row[i].verdict, wanted[i], "%s: %s", row[i].name,
			 cross_check_names[row[i].verdict]);
		CHECK_EQ(row[i].n[CROSS_CHECK_MSR], 6, "its runs");
		CHECK_EQ(row[i].n[CROSS_CHECK_PERF], 6, "perf's runs");
	}
	if (row) {
		CHECK(row[2].test.change == 10000, "perf less registers: %g", row[2].test.change);
		CHECK(row[3].mean[CROSS_CHECK_MSR] == 5 && row[3].mean[CROSS_CHECK_PERF] == 6,
		      "not exchanged");
		CHECK(row[1].test.half > 0 && row[1].test.half < 1000, "half %g", row[1].test.half);
	}
	free(row);
	summary_free(s);
}

/* Registers count guests and the host; perf excludes guests by default. */
TEST(guests_are_on_both_sides_or_on_none)
{
	struct encoding_list list = { .enc = calloc(2, sizeof(struct encoding)),
				      .n = 2,
				      .groups = 2 };

	for (size_t i = 0; i < 2; i++)
		list.enc[i] = (struct encoding){ .source = &source_msr,
						 .attr = { .exclude_guest = 1 },
						 .group = (unsigned)i,
						 .host_only = i == 1 };
	CHECK_EQ(cross_check_add(&list, NULL), 0);
	CHECK_EQ(list.n, 4);
	CHECK(list.enc[2].source == &source_perf);
	CHECK_EQ(list.enc[2].attr.exclude_guest, 0, "as a register counts");
	CHECK_EQ(list.enc[3].attr.exclude_guest, 1, "only the host was requested");
	CHECK_EQ(list.enc[0].attr.exclude_guest, 1, "the first of a pair is not changed");
	encoding_list_free(&list);
}

TEST(one_run_is_no_argument)
{
	struct summary *s;
	size_t n;

	counted = some;
	spoilt = 0;
	struct cross_check_row *row = judge(3, 1, &n, &s);

	for (size_t i = 0; row && i < 3; i++)
		CHECK_EQ(row[i].verdict, CROSS_CHECK_UNTESTED, "%s",
			 cross_check_names[row[i].verdict]);
	CHECK(row && row[2].test.change == 10000, "the difference is known");
	free(row);
	summary_free(s);
}

TEST(an_estimate_is_not_compared)
{
	struct summary *s;
	size_t n;

	counted = some;
	spoilt = 2;
	struct cross_check_row *row = judge(3, 6, &n, &s);

	if (row) {
		CHECK_EQ(row[1].verdict, CROSS_CHECK_UNKNOWN, "%s",
			 cross_check_names[row[1].verdict]);
		CHECK_STR(row[1].why, "perf: it was on a counter for 50.0 % of the time");
		CHECK_EQ(row[0].verdict, CROSS_CHECK_EQUAL, "its neighbours are");
		CHECK_EQ(row[2].verdict, CROSS_CHECK_DIFFER, "compared");
	}
	free(row);
	summary_free(s);
}

TEST_MAIN()
