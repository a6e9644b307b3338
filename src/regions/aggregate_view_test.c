/* SPDX-License-Identifier: MIT */
/* The output about one-time noise, which is not reproducible with real runs. */
#include "made_timeline.h"
#include "tap.h"
#include "regions/aggregate_view.h"

static struct aggregate_cause cause; /* of the first counter's noise, if judged */

/* Two runs, each on one CPU or not. */
static char *text_of(bool first, bool second)
{
	static const struct made_point one[] = { { TIMELINE_BEGIN, "a", { 0, 0 } },
						 { TIMELINE_END, "a", { 10, 5 } } };
	static const struct made_point two[] = { { TIMELINE_BEGIN, "a", { 0, 0 } },
						 { TIMELINE_END, "a", { 10, 7 } } };
	const struct aggregate_options options = { .extremes = 10, .differences = 10 };
	const struct style style = { .width = 1000, .thousands = true };
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
	if (cause.judged) {
		a.counter[0].cause[0] = cause;
		a.counter[0].n_causes = 1;
		a.counter[0].noise = 2;
	}
	aggregate_text(&out, &a, &all, &style);
	aggregate_free(&a);
	return out.s;
}

TEST(one_cpu_is_not_advised_where_there_was_one)
{
	for (int which = 0; which < 4; which++) {
		char *got = text_of(which & 1, which & 2);

		CHECK(strstr(got, "may be done by another thread in another run") != NULL, "%s",
		      got);
		CHECK_EQ(strstr(got, "tare regions --deterministic=+cpu") != NULL, which != 3, "%s",
			 got);
		CHECK_EQ(strstr(got, "On one CPU, as here, it is mostly the same thread") != NULL,
			 which == 3, "%s", got);
		free(got);
	}
}

/* The page prints the same digits: tests/page/page_test.mjs has the same rows. */
TEST(an_interval_of_a_slope_has_two_digits)
{
	static const struct {
		double per, half;
		const char *says;
	} rows[] = {
		{ 12.345, 0.67, " corresponds to 12.35 +-0.67 ns (95 %)." },
		{ -1234567, 4321, " corresponds to -1,234,600 +-4,400 ns (95 %)." },
		{ 0.012345, 0.0021, " corresponds to 0.0123 +-0.0021 ns (95 %)." },
		{ 7, 0, " corresponds to 7 +-0 ns (95 %)." },
		{ 2.5, 0, " corresponds to 2.50 +-0 ns (95 %)." },
		{ 3, 12.3, " corresponds to 3 +-13 ns (95 %)." },
		{ 250.5, 99.9, " corresponds to 251 +-100 ns (95 %)." },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *got;

		cause = (struct aggregate_cause){ .counter = 1,
						  .n = 3,
						  .noise = 2,
						  .judged = true,
						  .known = true,
						  .per = rows[i].per,
						  .half = rows[i].half };
		got = text_of(false, false);
		CHECK(strstr(got, rows[i].says) != NULL, "%s: %s", rows[i].says, got);
		free(got);
	}
	cause.judged = false;
}

TEST_MAIN()
