/* SPDX-License-Identifier: MIT */
/* Two handmade profiles as one, and which changes count as more than noise. */
#include <math.h>
#include "profile/report/report_diff.h"
#include "base/text.h"
#include "tap.h"

static struct call_tree *side_of(const char *unit)
{
	struct call_tree *s = call_tree_new(NULL);

	call_tree_add_column(s, "cycles:u", unit);
	call_tree_add_column(s, "other", "");
	return s;
}

/* `samples` samples of 10 each at "abc", outermost first, in `module`. */
static void count(struct call_tree *s, const char *stack, const char *module, uint64_t samples)
{
	uint32_t node = 0,
		 task = call_tree_add_task(s, (uint32_t)samples, 7, call_tree_add_name(s, "prog"));

	for (const char *c = stack; *c; c++) {
		char name[2] = { *c, 0 };
		struct call_tree_frame f = { .function = call_tree_add_name(s, name),
					     .module = call_tree_add_name(s, module),
					     .address = samples };

		node = call_tree_add_node(s, node, call_tree_add_frame(s, &f));
	}

	struct call_tree_row row = { node, task, 0, 0, samples, 10 * samples };

	call_tree_count(s, &row, 100.0 * (double)samples, NULL);
	row.column = 1; /* another event: ignored */
	call_tree_count(s, &row, 1, NULL);
}

static const char *rows_of(const struct call_tree *before, const struct call_tree *after,
			   unsigned keys, bool shares)
{
	static char out[1024];
	const struct call_tree *from[] = { before, after };
	const uint32_t column[] = { 0, 0 };
	struct report_options o = { .keys = keys, .column = REPORT_AFTER };
	struct call_tree *pair = report_pair(from, column, keys, NULL, NULL);
	struct report_diff d;
	struct text t = { 0 };

	CHECK_EQ(report_diff_make(&d, pair, &o, shares, NULL), 0, "made");
	for (size_t i = 0; i < d.n; i++)
		text_add(&t, "%s%s%s%s %.4g>%.4g/%.4g>%.4g%s", i ? "; " : "",
			 call_tree_name(pair, d.row[i].row->what.module),
			 keys & REPORT_MODULE ? " " : "",
			 call_tree_name(pair, d.row[i].row->what.function), d.row[i].self.before,
			 d.row[i].self.after, d.row[i].total.before, d.row[i].total.after,
			 d.row[i].self.beyond ? " !" : "");
	snprintf(out, sizeof(out), "%s", t.s ? t.s : "");
	text_free(&t);
	report_diff_free(&d);
	call_tree_free(pair);
	return out;
}

TEST(rows_of_both_sides)
{
	struct call_tree *a = side_of(""), *b = side_of("");

	count(a, "mf", "/old/prog", 100);
	count(a, "mg", "/old/prog", 300);
	count(a, "m", "/old/prog", 50);
	count(b, "mf", "/new/prog", 110);
	count(b, "mh", "/new/prog", 40);
	count(b, "m", "/new/prog", 50);
	CHECK_STR(
		rows_of(a, b, REPORT_MODULE | REPORT_FUNCTION, false),
		"prog g 3000>0/3000>0 !; prog h 0>400/0>400 !; prog f 1000>1100/1000>1100; prog m 500>500/4500>2000",
		"by module without its folder; sure ones first");
	CHECK_STR(
		rows_of(a, b, REPORT_FUNCTION, true),
		"g 0.6667>0/0.6667>0 !; f 0.2222>0.55/0.2222>0.55 !; h 0>0.2/0>0.2 !; m 0.1111>0.25/1>1 !",
		"shares");
	call_tree_free(a);
	call_tree_free(b);
}

TEST(modules_tell_apart_where_they_are_asked_for)
{
	struct call_tree *a = side_of(""), *b = side_of("");

	count(a, "f", "/x/one", 100);
	count(b, "f", "/x/two", 100);
	CHECK_STR(rows_of(a, b, REPORT_MODULE | REPORT_FUNCTION, false),
		  "two f 0>1000/0>1000 !; one f 1000>0/1000>0 !", "a new name");
	CHECK_STR(rows_of(a, b, REPORT_FUNCTION, false), "f 1000>1000/1000>1000",
		  "the same function");
	call_tree_free(a);
	call_tree_free(b);
}

/*
 * Compares numbers of samples, whatever their amounts: 2 sqrt(b + 3/8) - 2 sqrt(a + 3/8) has the
 * variance 2.
 */
TEST(noise_is_that_of_the_samples)
{
	static const struct {
		int line;
		uint64_t before, after;
		double weight;
		bool shares;
		double p;
	} rows[] = {
		{ __LINE__, 100, 100, 1, false, 1 },
		{ __LINE__, 100, 130, 1, false, 0.04750 },
		{ __LINE__, 130, 100, 1, false, 0.04750 },
		{ __LINE__, 100000, 130000, 1000, false,
		  0.04750 }, /* as many samples of 1000 each */
		{ __LINE__, 0, 4, 1, false, 0.03738 },
		{ __LINE__, 500, 550, 1, true, 0.02533 }, /* of 1000 each: 50 % and 55 % */
		{ __LINE__, 990, 1000, 1, true, 0.0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t all = (uint64_t)(1000 * rows[i].weight);
		struct call_tree_column c = { .amount = all,
					      .squares = (double)all * rows[i].weight,
					      .samples = 1000 };
		struct call_tree_column both[] = { c, c };
		struct report_change d = report_change(both, rows[i].before, rows[i].after,
						       rows[i].shares);

		CHECK(fabs(d.p - rows[i].p) < 0.002, "row at line %d: %.5f", rows[i].line, d.p);
	}
}

TEST(a_change_has_its_interval)
{
	struct call_tree_column c = { .amount = 1000, .squares = 1000, .samples = 1000 };
	struct call_tree_column both[] = { c, c };
	struct report_change d = report_change(both, 100, 200, false),
			     e = report_change(both, 100, 200, true);

	CHECK(fabs(d.change - 100) < 1e-9 && fabs(d.half - 1.96 * sqrt(300)) < 1e-9, "%g +- %g",
	      d.change, d.half);
	CHECK(fabs(e.change - 0.1) < 1e-9 &&
		      fabs(e.half - hypot(report_margin(&c, 0.1), report_margin(&c, 0.2))) < 1e-9,
	      "%g +- %g", e.change, e.half);
}

/* Assumes the worst case for the lost samples. */
TEST(what_was_lost_may_have_made_the_change)
{
	static const struct {
		int line;
		double lost[2];
		uint64_t before, after;
		bool shares;
		double p;
	} rows[] = {
		{ __LINE__, { 0, 0 }, 100, 200, false, 0 },
		/*
		 * 52.6 of 1000 are missing: of 100 more, 47.4 count; 2.77 instead of 5.85 standard
		 * deviations
		 */
		{ __LINE__, { 0.05, 0 }, 100, 200, false, 0.00558 },
		{ __LINE__, { 0, 0.05 }, 200, 100, false, 0.00558 },
		/* up or down, like the interval */
		{ __LINE__, { 0, 0.05 }, 100, 200, false, 0.00558 },
		/* 111.1 are missing: the change may be zero */
		{ __LINE__, { 0.1, 0 }, 100, 200, false, 1 },
		{ __LINE__, { 0.02, 0.02 }, 100, 200, true, 0.0002 },
		/* of 10 points 4 count; 2.53 instead of 6.32 standard deviations */
		{ __LINE__, { 0.03, 0.03 }, 100, 200, true, 0.0115 },
		{ __LINE__, { 0.06, 0.06 }, 100, 200, true, 1 },
		{ __LINE__, { 0.2, 0.1 }, 100, 200, true, 1 },
		{ __LINE__, { 0, 0.51 }, 100, 1000, false, 1 },
		{ __LINE__, { 0.51, 0 }, 1000, 100, false, 1 },
		{ __LINE__, { 0.4, 0 }, 1000, 0, false, 0 },
		{ __LINE__, { 1, 0 }, 0, 100, false, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct call_tree_column c = { .amount = 1000, .squares = 1000, .samples = 1000 },
					both[] = { c, c };

		for (int side = 0; side < REPORT_SIDES; side++)
			both[side].lost = rows[i].lost[side];

		struct report_change d = report_change(both, rows[i].before, rows[i].after,
						       rows[i].shares);

		CHECK(fabs(d.p - rows[i].p) < 0.002, "row at line %d: %.5f", rows[i].line, d.p);
		if (rows[i].p < 0.9)
			CHECK_EQ(d.p<0.05, fabs(d.change)> d.half,
				 "row at line %d: p %.5f, %g +- %g", rows[i].line, d.p, d.change,
				 d.half);
		CHECK_EQ(report_diff_too_much_lost(both),
			 rows[i].lost[0] > 0.5 || rows[i].lost[1] > 0.5, "row at line %d",
			 rows[i].line);
	}
}

TEST(counts_of_every_event_have_no_noise)
{
	struct call_tree_column c = { .amount = 1000,
				      .squares = 1000,
				      .samples = 1000,
				      .asked.every = true },
				both[] = { c, c };
	struct report_change same = report_change(both, 100, 100, false),
			     other = report_change(both, 100, 101, false);

	CHECK(same.half == 0 && same.p == 1, "%g, p %g", same.half, same.p);
	CHECK(other.change == 1 && other.half == 0 && other.p == 0, "%g, p %g", other.half,
	      other.p);
	CHECK_EQ(report_change(both, 100, 101, true).half, 0);
	both[1].asked.every = false;
	CHECK(report_change(both, 100, 100, false).half > 0, "not where one side is sampled");
}

TEST(the_same_samples_of_the_exact_engine_have_no_noise)
{
	/* the same; with one moved; with the kernel's; with other periods */
	for (int way = 0; way < 4; way++) {
		struct call_tree *side[] = { side_of(""), side_of("") };
		const struct call_tree *from[] = { side[0], side[1] };
		const uint32_t column[] = { 0, 0 };
		const struct report_options o = { .keys = REPORT_FUNCTION, .column = REPORT_AFTER };
		struct report_diff d;

		for (int i = 0; i < REPORT_SIDES; i++) {
			count(side[i], "ab", "m", way == 1 ? 20 + (unsigned)i : 20);
			count(side[i], "ac", "m", way == 1 ? 30 - (unsigned)i : 30);
			side[i]->column[0].asked.repeats = way != 2;
			side[i]->column[0].asked.period = way == 3 ? 10 + (unsigned)i : 10;
		}

		struct call_tree *pair = report_pair(from, column, REPORT_FUNCTION, NULL, NULL);

		CHECK_EQ(report_diff_make(&d, pair, &o, false, NULL), 0);
		CHECK_EQ(d.same, way == 0, "way %d", way);
		for (size_t i = 0; i < d.n; i++)
			if (d.row[i].self.before > 0)
				CHECK_EQ(d.row[i].self.half == 0, way == 0, "way %d", way);
		report_diff_free(&d);
		call_tree_free(pair);
		call_tree_free(side[0]);
		call_tree_free(side[1]);
	}
}

TEST(what_was_lost_widens_the_interval)
{
	struct call_tree_column c = { .amount = 1000, .squares = 1000, .samples = 1000 };
	struct call_tree_column both[] = { c, c };
	double half = report_change(both, 100, 200, false).half,
	       shares = report_change(both, 100, 200, true).half;

	both[0].lost = 0.2;
	both[1].lost = 0.1;
	CHECK(fabs(report_change(both, 100, 200, false).half - (half + 250)) < 1e-9);
	CHECK(fabs(report_change(both, 100, 200, true).half - (shares + 0.3)) < 1e-9);
}

/* More samples can increase the counted amount, but never reduce it. */
TEST(what_more_samples_cost_is_not_judged)
{
	static const struct {
		int line;
		uint64_t period[2], rate[2];
		bool costs, shares;
		uint64_t before, after;
		enum report_side denser;
		bool sure;
	} rows[] = {
		{ __LINE__, { 250, 250 }, { 0, 0 }, true, false, 100, 200, REPORT_SIDES, true },
		{ __LINE__, { 250, 10 }, { 0, 0 }, true, false, 100, 200, REPORT_AFTER, false },
		{ __LINE__, { 250, 10 }, { 0, 0 }, true, false, 0, 200, REPORT_AFTER, false },
		{ __LINE__, { 250, 10 }, { 0, 0 }, true, false, 200, 100, REPORT_AFTER, true },
		{ __LINE__, { 250, 10 }, { 0, 0 }, true, true, 100, 200, REPORT_AFTER, true },
		{ __LINE__, { 250, 10 }, { 0, 0 }, false, false, 100, 200, REPORT_SIDES, true },
		{ __LINE__, { 10, 250 }, { 0, 0 }, true, false, 200, 100, REPORT_BEFORE, false },
		{ __LINE__, { 10, 250 }, { 0, 0 }, true, false, 100, 200, REPORT_BEFORE, true },
		{ __LINE__, { 0, 0 }, { 4000, 20000 }, true, false, 100, 200, REPORT_AFTER, false },
		{ __LINE__, { 0, 0 }, { 4000, 3999 }, true, false, 200, 100, REPORT_SIDES, true },
		{ __LINE__, { 0, 0 }, { 4000, 4040 }, true, false, 100, 200, REPORT_SIDES, true },
		{ __LINE__, { 0, 0 }, { 4000, 4041 }, true, false, 100, 200, REPORT_AFTER, false },
		/* as observed: every event, every 10th */
		{ __LINE__, { 7, 0 }, { 0, 4000 }, true, false, 100, 200, REPORT_BEFORE, true },
		{ __LINE__, { 7, 0 }, { 0, 4000 }, true, false, 200, 100, REPORT_BEFORE, false },
		{ __LINE__,
		  { 0, 0 },
		  { 0, 0 },
		  true,
		  false,
		  100,
		  200,
		  REPORT_SIDES,
		  true }, /* not known */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct call_tree_column both[REPORT_SIDES];

		for (int side = 0; side < REPORT_SIDES; side++)
			both[side] = (struct call_tree_column){
				.amount = 1000,
				.squares = 1000,
				.samples = side ? 100 : 1000,
				.asked = { rows[i].period[side], rows[i].rate[side], rows[i].costs }
			};
		CHECK_EQ(report_diff_denser(both), rows[i].denser, "row at line %d", rows[i].line);
		CHECK_EQ(report_change(both, rows[i].before, rows[i].after, rows[i].shares).p <
				 0.01,
			 rows[i].sure, "row at line %d", rows[i].line);
	}
}

/* f and g are counted on both sides; h is by samples on one. */
TEST(counted_amounts_are_compared_exactly)
{
	struct call_tree *side[] = { side_of(""), side_of("") };
	const struct call_tree *from[] = { side[0], side[1] };
	const uint32_t column[] = { 0, 0 };
	struct report_options o = { .keys = REPORT_FUNCTION, .column = REPORT_AFTER };

	for (int i = 0; i < 2; i++) {
		struct call_tree_column *c = side[i]->column;
		size_t n;

		count(side[i], "f", "m", 100);
		count(side[i], "g", "m", i ? 101 : 100);
		count(side[i], "h", "m", i ? 101 : 100);
		call_tree_frames(side[i], &n);
		side[i]->by_samples = calloc(n, sizeof(bool));
		side[i]->by_samples[n - 1] = i;
		c->counted = c->has_total = true;
		c->sampled = c->total = c->amount;
	}
	for (int shares = 0; shares < 2; shares++) {
		struct call_tree *pair = report_pair(from, column, REPORT_FUNCTION, NULL, NULL);
		struct report_diff d;

		CHECK(report_diff_exact(pair->column), "both are");
		CHECK_EQ(report_diff_make(&d, pair, &o, shares, NULL), 0, "made");
		CHECK(!d.exact && !report_diff_all_exact(&d), "but for h");
		for (size_t i = 0; i < d.n; i++) {
			const struct report_change *c = &d.row[i].self;
			char name = *call_tree_name(pair, d.row[i].row->what.function);

			CHECK_EQ(c->exact, name != 'h', "%c", name);
			CHECK_EQ(c->half == 0, name != 'h', "%c: +- %g", name, c->half);
			CHECK_EQ(c->beyond, name != 'h' && c->change != 0, "%c", name);
			CHECK(name != 'g' || c->change != 0, "one sample more");
			CHECK_EQ(d.row[i].total.exact, c->exact, "there are no callers");
		}
		report_diff_free(&d);
		call_tree_free(pair);
	}
	side[0]->column[0].counted = false;

	struct call_tree *pair = report_pair(from, column, REPORT_FUNCTION, NULL, NULL);

	CHECK(!report_diff_exact(pair->column) && !pair->by_samples, "one side is by samples");
	call_tree_free(pair);
	call_tree_free(side[0]);
	call_tree_free(side[1]);
}

TEST_MAIN()
