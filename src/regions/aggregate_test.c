/* SPDX-License-Identifier: MIT */
/* Comparison of runs: cases that the recordings made by tests/cli/aggregate_test.py cannot have. */
#include "regions/aggregate.h"
#include "made_timeline.h"
#include "tap.h"

#define B TIMELINE_BEGIN
#define E TIMELINE_END

static struct aggregate a;
static const struct aggregate_options options = { .extremes = 10, .differences = 10 };

static void run_aggregate(struct made *m, size_t n)
{
	struct timeline *t[12];
	struct tare_error err = TARE_ERROR_INIT;

	for (size_t i = 0; i < n; i++)
		t[i] = &m[i].base;
	CHECK_EQ(aggregate(&a, t, n, &options, &err), 0, "%s", err.what);
}

/*
 * If a value was not read, or the end was inserted, there is no interval, and the value is not
 * taken as 0.
 */
TEST(values_that_are_missing)
{
	static const struct made_point one[] = { { B, "a", { 0, 0 } },
						 { B, "b", { 10, 1 } },
						 { E, "b", { 20, 2 } },
						 { E, "a", { 30, 3 } } };
	static const struct made_point two[] = { { B, "a", { 0, 0 } },
						 { B, "b", { 11, 0 }, .missing = 2 },
						 { E, "b", { 23, 2 } },
						 { E, "a", { 30, 3 }, .repaired = true } };
	struct made m[2];

	made_init(&m[0], "1", 2);
	made_init(&m[1], "2", 2);
	MADE_ADD(&m[0], 1, one);
	MADE_ADD(&m[1], 1, two);
	run_aggregate(m, 2);
	CHECK_EQ(a.differences, 0, "the same points");
	CHECK_EQ(a.intervals, 3, "in all");
	CHECK_EQ(a.counter[0].intervals, 2, "the last one has no end");
	CHECK_EQ(a.counter[0].noise, 1 + 2, "10 and 11, 10 and 12");
	CHECK_EQ(a.counter[1].intervals, 0, "each has an end without a value");
	CHECK_EQ(a.counter[1].not_counted, 3, "said");
	aggregate_free(&a);
}

/*
 * The first times of each thread and of each end of a label, also after a begin that ends no
 * interval.
 */
TEST(what_is_met_for_the_first_time)
{
	static const struct made_point one[] = { { B, "a", { 0, 0 } },  { E, "a", { 10, 5 } },
						 { B, "a", { 20, 5 } }, { E, "a", { 30, 5 } },
						 { B, "b", { 40, 5 } }, { E, "b", { 50, 5 } },
						 { B, "a", { 60, 5 } }, { E, "a", { 70, 5 } } };
	static const struct made_point two[] = { { B, "a", { 0, 0 } },  { E, "a", { 11, 5 } },
						 { B, "a", { 23, 5 } }, { E, "a", { 37, 5 } },
						 { B, "b", { 55, 5 } }, { E, "b", { 65, 5 } },
						 { B, "a", { 91, 5 } }, { E, "a", { 101, 5 } } };
	struct made m[2];

	made_init(&m[0], "1", 2);
	made_init(&m[1], "2", 2);
	for (int i = 0; i < 2; i++) {
		MADE_ADD(&m[0], i, one);
		MADE_ADD(&m[1], i, two);
	}
	run_aggregate(m, 2);
	CHECK_EQ(a.counter[0].intervals - a.counter[0].zero, 2 * 5, "1, 2, 4, 8, 16");
	CHECK_EQ(a.counter[0].noise, 2 * (1 + 2 + 4 + 8 + 16));
	CHECK_EQ(a.counter[0].firsts, 2 * 2,
		 "the end of a, the begin of b; the end of b has no noise");
	CHECK_EQ(a.counter[0].firsts_noise, 2 * (1 + 8));
	CHECK_EQ(a.counter[1].firsts, 0, "none has noise");
	aggregate_free(&a);
}

TEST(lost_points_are_a_difference)
{
	static const struct made_point one[] = {
		{ B, "a", { 0 } }, { E, "a", { 1 } }, { B, "b", { 2 } }, { E, "b", { 3 } },
		{ B, "c", { 4 } }, { E, "c", { 5 } }, { B, "d", { 6 } }, { E, "d", { 7 } },
	};
	static const struct made_point two[] = {
		{ B, "a", { 0 } },
		{ E, "a", { 1 } },
		{ B, "(lost)", { 1 }, .repaired = TIMELINE_AT_GAP },
		{ TIMELINE_LOST, NULL, { 3 }, .number = 2 },
		{ E, "(lost)", { 3 }, .repaired = TIMELINE_AT_GAP },
		{ B, "c", { 4 } },
		{ E, "c", { 5 } },
		{ B, "d", { 6 } },
		{ E, "d", { 8 } },
	};
	struct made m[2];

	made_init(&m[0], "1", 1);
	made_init(&m[1], "2", 1);
	MADE_ADD(&m[0], 1, one);
	MADE_ADD(&m[1], 1, two);
	run_aggregate(m, 2);
	CHECK_EQ(a.differences, 1, "one place");
	CHECK_EQ(a.difference[0].run[1].kind, TIMELINE_LOST, "the second run's next point");
	CHECK_EQ(a.run[0].alone, 2, "b");
	CHECK_EQ(a.counter[0].intervals, 1 + 3, "before and after it");
	CHECK_EQ(a.counter[0].noise, 1, "of d");
	aggregate_free(&a);
}

/* One fault costs 7. A second source of noise is independent of faults. */
TEST(noise_with_a_cause)
{
	static struct made_point p[3][MADE_POINTS];
	struct made m[3];

	for (size_t r = 0; r < 3; r++) {
		uint64_t time = 0, faults = 0;

		for (size_t i = 0; i < MADE_POINTS; i++) {
			uint64_t extra = i % 8 == 3 ? (r * 5 + i) % 4 : 0;

			faults += extra;
			time += 100 + 7 * extra + (i == 40 && r == 2 ? 50 : 0);
			p[r][i] = (struct made_point){ i % 2 ? E : B, "a", { time, faults } };
		}
		made_init(&m[r], "x", 2);
		MADE_ADD(&m[r], 1, p[r]);
	}
	run_aggregate(m, 3);
	CHECK_EQ(a.counter[0].n_causes, 1, "faults are known to disturb");
	CHECK_EQ(a.counter[1].n_causes, 0, "the clock is not");

	const struct aggregate_cause *c = &a.counter[0].cause[0];

	CHECK_EQ(c->counter, 1, "faults");
	CHECK_EQ(c->n, 8, "intervals");
	CHECK_EQ(c->exact, 8, "exactly multiples");
	CHECK(c->per > 6.999 && c->per < 7.001, "%g", c->per);
	CHECK(c->judged && c->known && c->half < 0.001, "+- %g", c->half);
	CHECK_EQ(a.counter[0].noise - c->noise, 50, "the rest has another cause");
	aggregate_free(&a);
}

/* It differs where the other counter does, but is not a multiple of it: 5 and 10 for 1 and 3. */
TEST(noise_that_is_no_multiple)
{
	static const struct made_point p[3][2] = {
		{ { B, "a", { 0, 0 } }, { E, "a", { 100, 0 } } },
		{ { B, "a", { 0, 0 } }, { E, "a", { 105, 1 } } },
		{ { B, "a", { 0, 0 } }, { E, "a", { 110, 3 } } },
	};
	struct made m[3];

	for (size_t r = 0; r < 3; r++) {
		made_init(&m[r], "x", 2);
		MADE_ADD(&m[r], 1, p[r]);
	}
	run_aggregate(m, 3);
	CHECK_EQ(a.counter[0].cause[0].n, 1, "one interval");
	CHECK_EQ(a.counter[0].cause[0].exact, 0, "not a multiple");
	CHECK(!a.counter[0].cause[0].judged && !a.counter[0].cause[0].known,
	      "one interval does not determine a slope");
	aggregate_free(&a);
}

/* Values as in a damaged file. */
TEST(differences_of_any_size)
{
	static const struct made_point p[2][2] = {
		{ { B, "a", { 0, 0 } }, { E, "a", { 0, 1 } } },
		{ { B, "a", { 0, 0 } }, { E, "a", { (uint64_t)INT64_MAX + 1, 0 } } },
	};
	struct made m[2];

	for (size_t r = 0; r < 2; r++) {
		made_init(&m[r], "x", 2);
		MADE_ADD(&m[r], 1, p[r]);
	}
	run_aggregate(m, 2);
	CHECK_EQ(a.counter[0].cause[0].n, 1);
	CHECK_EQ(a.counter[0].cause[0].exact, 1, "any number is a multiple of 1");
	aggregate_free(&a);
}

static uint64_t seed;

/* 0 to n - 1, from a fixed sequence. */
static unsigned chance(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((seed >> 33) % n);
}

/*
 * Runs with intervals of about 1000, with noise of up to 200 in both directions, rarely ten times
 * that, plus `per` for each fault. The faults of an interval are not known if its bit in `missing`
 * is set.
 */
static const struct aggregate_cause *made_noise(size_t runs, size_t intervals, unsigned per,
						unsigned most_faults, uint64_t missing,
						struct made *m)
{
	static struct made_point p[4][MADE_POINTS];

	for (size_t r = 0; r < runs; r++) {
		uint64_t time = 0, faults = 0;

		for (size_t i = 0; i <= intervals; i++) {
			unsigned more = i ? chance(most_faults + 1) : 0;

			faults += more;
			time += 5000 + chance(200) - chance(200) +
				(chance(10) == 0 ? chance(2000) : 0) + per * more;
			p[r][i] = (struct made_point){ i % 2 ? E : B,
						       "a",
						       { time, faults },
						       .missing = missing >> i & 1 ? 2 : 0 };
		}
		made_init(&m[r], "x", 2);
		made_add(&m[r], 1, p[r], intervals + 1);
	}
	run_aggregate(m, runs);
	return &a.counter[0].cause[0];
}

TEST(a_slope_is_known_so_well_and_no_better)
{
	enum { DRAWS = 200 };
	static const struct {
		int line;
		size_t runs, intervals;
		unsigned per, faults, least, most; /* number of draws with a significant slope */
	} rows[] = {
		{ __LINE__, 3, 3, 1000, 3, 0, 0 }, /* too few */
		{ __LINE__, 3, 5, 1000, 1, 0, 0 },
		/* no effect: by chance one in twenty at 95 % */
		{ __LINE__, 3, 23, 0, 3, 0, DRAWS / 10 },
		{ __LINE__, 2, 61, 0, 3, 0, DRAWS / 10 },
		{ __LINE__, 3, 23, 1000, 3, DRAWS * 9 / 10, DRAWS },
	};
	struct made m[4];

	for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
		unsigned known = 0, beside = 0, judged = 0;

		seed = k;
		for (int i = 0; i < DRAWS; i++) {
			const struct aggregate_cause *c = made_noise(
				rows[k].runs, rows[k].intervals, rows[k].per, rows[k].faults, 0, m);

			known += c->known;
			judged += c->judged;
			beside += c->judged &&
				!(c->per - c->half <= rows[k].per &&
				  rows[k].per <= c->per + c->half);
			CHECK(!c->known || c->judged);
			aggregate_free(&a);
		}
		CHECK(rows[k].least <= known && known <= rows[k].most,
		      "row at line %d: known in %u of %d", rows[k].line, known, DRAWS);
		CHECK(beside <= DRAWS / 10,
		      "row at line %d: %u of %u intervals miss the true value", rows[k].line,
		      beside, judged);
	}
}

/*
 * An interval in which only the other counter differs counts for the slope, too. An interval
 * without the other counter's value does not.
 */
TEST(what_a_slope_is_of)
{
	static struct made_point p[2][17];
	const struct aggregate_cause *c;
	struct made m[4];

	for (size_t r = 0; r < 2; r++)
		/*
		 * one more fault in each interval of the second run, and 10 more in every other one
		 */
		for (size_t i = 0; i < ARRAY_SIZE(p[0]); i++)
			p[r][i] = (struct made_point){ i % 2 ? E : B,
						       "a",
						       { 100 * i + r * 10 * (i / 2), i + r * i } };
	for (size_t r = 0; r < 2; r++) {
		made_init(&m[r], "x", 2);
		MADE_ADD(&m[r], 1, p[r]);
	}
	run_aggregate(m, 2);
	c = &a.counter[0].cause[0];
	CHECK_EQ(c->n, 8, "with noise");
	CHECK_EQ(c->seen, 16, "all");
	CHECK(c->per == 5 && c->judged && c->half > 1, "%g +- %g", c->per, c->half);
	aggregate_free(&a);

	seed = 1;
	c = made_noise(2, 61, 1000, 3, 0, m);
	CHECK(c->seen > 30, "%d", (int)c->seen);
	aggregate_free(&a);
	c = made_noise(2, 61, 1000, 3, UINT64_MAX, m);
	CHECK_EQ(c->seen, 0, "no number of faults was read");
	CHECK_EQ(c->n, 0);
	aggregate_free(&a);
}

/* Twelve runs: 7 for each fault in a second region, and a small noise without a cause. */
TEST(the_budget_of_a_counter)
{
	static const unsigned faults_of[12] = { 3, 9, 1, 14, 6, 2, 11, 5, 8, 0, 13, 4 },
			      rest[12] = { 0, 1, 0, 2, 1, 1, 0, 0, 2, 1, 0, 1 };
	static struct made_point p[12][4];
	struct tare_error err = TARE_ERROR_INIT;
	struct made m[12];
	struct budget b;

	for (size_t r = 0; r < 12; r++) {
		uint64_t end = 1200 + 7 * faults_of[r] + rest[r];

		p[r][0] = (struct made_point){ B, "a", { 100, 0 } };
		p[r][1] = (struct made_point){ E, "a", { 1100, 0 } };
		p[r][2] = (struct made_point){ B, "b", { 1150, 0 } };
		p[r][3] = (struct made_point){ E, "b", { end, faults_of[r] } };
		made_init(&m[r], "x", 2);
		MADE_ADD(&m[r], 1, p[r]);
	}
	run_aggregate(m, 12);
	CHECK(a.counter[0].differs);
	CHECK_EQ(a.counter[0].first.index, 3, "the end of b");
	CHECK_EQ(a.counter[0].first.from_kind, B);
	CHECK_EQ(aggregate_budget(&a, 0, &b, &err), 0, "%s", err.what);
	CHECK_EQ(b.state, BUDGET_SPLIT);
	CHECK_EQ(b.n, 12);
	CHECK(b.parts == 1 && b.part[0].causes == BUDGET(FAULTS), "%zu parts", b.parts);
	CHECK(b.part[0].per_low < 7 && b.part[0].per_high > 7, "%f", b.part[0].per);
	CHECK(b.part[0].share > 0.99);
	CHECK_EQ(aggregate_budget(&a, 1, &b, &err), 0, "%s", err.what);
	CHECK_EQ(b.parts, 0, "faults are not their own cause");
	CHECK(!(b.tried & BUDGET(FAULTS)));
	aggregate_free(&a);
}

static const struct aggregate_row *row(const char *name)
{
	for (size_t i = 0; i < a.n; i++)
		if (!strcmp(a.labels.entry[a.row[i].label].name, name))
			return &a.row[i];
	return NULL;
}

/*
 * Timings have a row of their own, or count in the row of their label's regions. Across two threads
 * only clocks count. Their ends are points.
 */
TEST(async_spans)
{
	static const struct made_point one[2][6] = {
		{ { B, "t", { 0, 0 } },
		  { TIMELINE_START, "t", { 10, 1 }, .number = 1 },
		  { TIMELINE_START, "far", { 20, 2 }, .number = 2 },
		  { TIMELINE_FINISH, "t", { 70, 5 }, .number = 1 },
		  { E, "t", { 100, 9 } },
		  { TIMELINE_START, "t", { 200, 9 }, .number = 3 } },
		{ { B, "t", { 0, 0 } },
		  { TIMELINE_START, "t", { 10, 1 }, .number = 1 },
		  { TIMELINE_START, "far", { 20, 2 }, .number = 2 },
		  { TIMELINE_FINISH, "t", { 74, 6 }, .number = 1 },
		  { E, "t", { 100, 9 } },
		  { TIMELINE_START, "t", { 200, 9 }, .number = 3 } },
	};
	static const struct made_point two[2][1] = {
		{ { TIMELINE_FINISH, "far", { 500, 1 }, .number = 2 } },
		{ { TIMELINE_FINISH, "far", { 510, 1 }, .number = 2 } }
	};
	struct made m[2];

	for (size_t r = 0; r < 2; r++) {
		made_init(&m[r], "x", 2);
		/* In one of the runs the finish is read first. */
		if (r)
			MADE_ADD(&m[r], 1, two[r]);
		MADE_ADD(&m[r], 2, one[r]);
		if (!r)
			MADE_ADD(&m[r], 1, two[r]);
	}
	run_aggregate(m, 2);
	CHECK_EQ(a.run[0].regions, 3,
		 "a region and two timings; the unfinished one does not count");
	CHECK_EQ(a.run[0].points, 7);
	CHECK_EQ(a.n, 2, "rows");
	if (CHECK(row("far") && row("t") && row("far")->async && row("t")->async,
		  "both have some")) {
		const struct aggregate_tally *t[] = { aggregate_tally(&a, row("t"), 0),
						      aggregate_tally(&a, row("t"), 1) };
		const struct aggregate_tally *far[] = { aggregate_tally(&a, row("far"), 0),
							aggregate_tally(&a, row("far"), 1) };

		CHECK_EQ(t[0]->count, 2);
		CHECK_EQ(row("t")->async[0], 1);
		CHECK(t[0]->amount[0].self == 160 && t[0]->amount[0].total == 160 &&
			      t[0]->amount[1].self == 9 + 4,
		      "the first run");
		CHECK(t[1]->amount[0].self == 164 && t[1]->amount[0].total == 164 &&
			      t[1]->amount[1].self == 9 + 5,
		      "the second");
		CHECK_EQ(far[0]->count, 1);
		CHECK_EQ(row("far")->async[1], 1);
		CHECK(far[0]->amount[0].self == 480 && far[0]->amount[0].unknown == 0 &&
			      far[0]->amount[1].unknown == 1 && far[0]->amount[1].total == 0,
		      "only the clock");
		CHECK(far[1]->amount[0].self == 490 && far[1]->amount[0].unknown == 0 &&
			      far[1]->amount[1].unknown == 1,
		      "likewise");
	}
	CHECK_EQ(a.run[1].async[0].self, 64 + 490, "of all rows");
	CHECK_EQ(a.run[1].async[1].unknown, 1);
	CHECK_EQ(a.counter[0].noise, 4 + 4, "of the intervals between their ends");
	aggregate_free(&a);
}

/*
 * The cost of timings is already included in the threads' regions, so the budget is that of the
 * regions. An unknown cost of a timing does not change it.
 */
TEST(the_budget_is_without_async_spans)
{
	static struct made_point p[8][4], q[8][1];
	struct tare_error err = TARE_ERROR_INIT;
	struct made m[8];
	struct budget b;

	for (size_t r = 0; r < 8; r++) {
		p[r][0] = (struct made_point){ B, "a", { 100, 0 } };
		p[r][1] = (struct made_point){ TIMELINE_START, "t", { 100, 0 }, .number = 1 };
		p[r][2] = (struct made_point){ TIMELINE_START, "u", { 100, 0 }, .number = 2 };
		p[r][3] = (struct made_point){ E, "a", { 1100, 10 } };
		q[r][0] = (struct made_point){
			TIMELINE_FINISH, "t", { 2000 + 100 * r, r }, .number = 1
		};
		made_init(&m[r], "x", 2);
		MADE_ADD(&m[r], 1, p[r]);
		MADE_ADD(&m[r], 2, q[r]);
	}
	run_aggregate(m, 8);
	CHECK_EQ(aggregate_budget(&a, 0, &b, &err), 0, "%s", err.what);
	CHECK_EQ(b.state, BUDGET_NO_SPREAD);
	CHECK_EQ(aggregate_budget(&a, 1, &b, &err), 0, "%s", err.what);
	CHECK_EQ(b.state, BUDGET_NO_SPREAD);
	CHECK_EQ(b.n, 8);
	aggregate_free(&a);
}

TEST(threads_by_name_then_order)
{
	static const struct made_point one[] = { { B, "a", { 0 } }, { E, "a", { 1 } } },
				       two[] = { { B, "b", { 0 } }, { E, "b", { 5 } } };
	struct made m[2];

	for (size_t r = 0; r < 2; r++) {
		made_init(&m[r], "x", 1);
		made_add(&m[r], 100 + r, r ? two : one, 2);
		made_add(&m[r], 200 + r, r ? one : two, 2);
		m[r].thread[0].name = r ? "worker" : "main";
		m[r].thread[1].name = r ? "main" : "worker";
	}
	run_aggregate(m, 2);
	CHECK_EQ(a.n_threads, 2, "pairs");
	CHECK_EQ(a.differences, 0, "of the same name");
	CHECK_EQ(a.thread[0].runs, 2, "both");
	aggregate_free(&a);
}

TEST_MAIN()
