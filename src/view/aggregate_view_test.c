/* SPDX-License-Identifier: MIT */
/* What is said of noise at first times, which no two runs of a program have for sure. */
#include "made_timeline.h"
#include "tap.h"
#include "view/aggregate_view.h"

/* Of two runs, each on one CPU or not known to be. */
static char *text_of(bool first, bool second)
{
	static const struct made_point one[] = { { TIMELINE_BEGIN, "a", { 0, 0 } }, { TIMELINE_END, "a", { 10, 5 } } };
	static const struct made_point two[] = { { TIMELINE_BEGIN, "a", { 0, 0 } }, { TIMELINE_END, "a", { 10, 7 } } };
	const struct aggregate_options options = { .extremes = 10, .differences = 10 };
	const struct style style = { .width = 1000 };
	const struct aggregate_shown all = { 0 };
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline *t[2];
	struct made m[2];
	struct text out = { 0 };
	struct aggregate a;

	for (int r = 0; r < 2; r++) {
		made_init(&m[r], r ? "2" : "1", 2);
		m[r].base.info.one_cpu = r ? second : first;
		for (int thread = 0; thread < 2; thread++)
			made_add(&m[r], (uint64_t)thread, r ? two : one, 2);
		t[r] = &m[r].base;
	}
	CHECK_EQ(aggregate(&a, t, 2, &options, &err), 0, "%s", err.what);
	aggregate_text(&out, &a, &all, &style);
	aggregate_free(&a);
	return out.s;
}

TEST(one_cpu_is_not_advised_where_there_was_one)
{
	for (int which = 0; which < 4; which++) {
		char *got = text_of(which & 1, which & 2);

		CHECK(strstr(got, "may be done by another thread in another run") != NULL, "%s", got);
		CHECK_EQ(strstr(got, "tare regions --deterministic=+cpu") != NULL, which != 3, "%s", got);
		CHECK_EQ(strstr(got, "On one CPU, as here, it is mostly the same thread") != NULL, which == 3, "%s", got);
		free(got);
	}
}

TEST_MAIN()
