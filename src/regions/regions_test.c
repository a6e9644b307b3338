/* SPDX-License-Identifier: MIT */
/*
 * Sums of regions: cases that recordings of correct programs do not have. Other cases are in
 * tests/cli/summarize_test.py.
 */
#include "regions/regions.h"
#include "made_timeline.h"
#include "tap.h"

#define B TIMELINE_BEGIN
#define E TIMELINE_END

static struct regions sums;

static void sum_up(struct made *m, const struct regions_options *options)
{
	struct tare_error err = TARE_ERROR_INIT;

	regions_init(&sums, options);
	CHECK_EQ(regions_add(&sums, &m->base, &err), 0, "%s", err.what);
}

static const struct regions_row *row(const char *name)
{
	static struct regions_row none;

	for (size_t i = 0; i < sums.n; i++)
		if (!strcmp(sums.labels.entry[sums.row[i].label].name, name))
			return &sums.row[i];
	CHECK(false, "there is a row %s", name);
	return &none;
}

static void check_row(const char *name, size_t c, uint64_t count, int64_t self, uint64_t total,
		      uint64_t unknown)
{
	const struct regions_row *r = row(name);

	CHECK_EQ(r->count, count, "count of %s", name);
	CHECK_EQ(r->sum[c].self, self, "self of %s", name);
	CHECK_EQ(r->sum[c].total, total, "total of %s", name);
	CHECK_EQ(r->sum[c].rare->unknown, unknown, "unknown of %s", name);
}

/* As shown. */
static void check_sum(size_t c)
{
	double all = regions_outside(&sums, c);

	for (size_t i = 0; i < sums.n; i++)
		all += regions_nested_self(&sums, &sums.row[i], c);
	CHECK(all == regions_whole(&sums, c), "%g in rows, %g in all", all,
	      regions_whole(&sums, c));
}

static const struct regions_options plain = { .singles = 0 };

TEST(recursion_counts_once)
{
	static const struct made_point p[] = {
		{ B, "f", { 0, 0 } },    { B, "g", { 10, 1 } },   { B, "f", { 20, 2 } },
		{ E, "f", { 50, 5 } },   { E, "g", { 60, 6 } },   { E, "f", { 100, 10 } },
		{ B, "f", { 110, 11 } }, { E, "f", { 111, 11 } },
	};
	struct made m;

	made_init(&m, "a", 2);
	MADE_ADD(&m, 1, p);
	sum_up(&m, &plain);
	check_row("f", 0, 3, 50 + 30 + 1, 101, 0);
	check_row("g", 0, 1, 20, 50, 0);
	check_row("f", 1, 3, 5 + 3, 10, 0);
	CHECK_EQ(regions_sum_each(&row("f")->sum[0]), 131, "each time");
	CHECK_EQ(row("f")->rare->recursive, 1, "in another");
	CHECK_EQ(sums.counter[0].whole, 111, "all");
	CHECK_EQ(sums.counter[0].outside, 10, "in no region");
	CHECK_EQ(sums.deepest, 3, "depth");
	regions_free(&sums);
}

/*
 * A C region has an overhead of 4 inside and 6 outside, a Python region 40 and 60. outer contains a
 * and b, b contains c.
 */
TEST(own_cost)
{
	static const struct made_point p[] = {
		{ B, "outer", { 0 } }, { B, "a", { 1060 } },     { E, "a", { 2100 } },
		{ B, "b", { 2160 } },  { B, "c", { 2220 } },     { E, "c", { 4260 } },
		{ E, "b", { 4320 } },  { E, "outer", { 5380 } }, { B, "x", { 5500 } },
		{ E, "x", { 5600 } },
	};
	struct regions_options take_off = { .subtract_own = true, .single = "b", .singles = 1 };
	struct made m;

	for (int off = 0; off < 2; off++) {
		made_init(&m, "a", 1);
		m.counter[0].own[0] = (struct timeline_own){ true, 4, 6, 1, 2 };
		m.counter[0].own[2] = (struct timeline_own){ true, 40, 60, 10, 20 };
		MADE_ADD(&m, 1, p);
		m.label[made_number(&m, "b")].record_path = 2;
		m.label[made_number(&m, "x")].record_path = 3;
		sum_up(&m, off ? &take_off : &plain);
		CHECK_EQ(row("outer")->sum[0].own.self, 4 + 6 + 60,
			 "the inside of outer, and the outside of its two children");
		CHECK_EQ(row("outer")->sum[0].own.self_off, 1 + 2 + 20, "the errors add up");
		CHECK_EQ(row("outer")->sum[0].own.total, 4 + 10 + 100 + 10,
			 "its inside, and all of three regions");
		CHECK_EQ(row("outer")->sum[0].own.total_off, 1 + 3 + 30 + 3, "likewise");
		CHECK_EQ(row("b")->sum[0].own.self, 40 + 6, "b is of Python");
		CHECK_EQ(regions_self(&sums, row("outer"), 0), 5380 - 1040 - 2160 - (off ? 70 : 0),
			 "self of outer");
		CHECK_EQ(regions_total(&sums, row("outer"), 0), 5380 - (off ? 124 : 0),
			 "total of outer");
		CHECK_EQ(regions_self(&sums, row("c"), 0), 2040 - (off ? 4 : 0), "self of c");
		CHECK_EQ(regions_single(&row("b")->sum[0], 1, NULL), 2160 - (off ? 50 : 0),
			 "the single ones too");
		CHECK_EQ(regions_self(&sums, row("x"), 0), 100, "this way was not measured");
		/*
		 * Half of the outside overhead of the first begin and of the last end; the overhead
		 * of x is not known.
		 */
		CHECK(sums.counter[0].own.whole == 124 + 6 / 2. &&
			      sums.counter[0].own.whole_off == 37 + 2 / 2.,
		      "%g +- %g of all", sums.counter[0].own.whole, sums.counter[0].own.whole_off);
		CHECK(sums.counter[0].own.outside == 6 / 2. &&
			      sums.counter[0].own.outside_off == 2 / 2.,
		      "%g of no region", sums.counter[0].own.outside);
		CHECK(regions_whole(&sums, 0) == 5600 - (off ? 127 : 0), "all");
		CHECK(regions_outside(&sums, 0) == 120 - (off ? 3 : 0), "in no region");
		check_sum(0);
		CHECK_EQ(sums.counter[0].record_path[0].regions, 3, "of C");
		CHECK_EQ(sums.counter[0].record_path[3].regions, 1, "of an unknown region");
		CHECK(regions_own_known(&sums.counter[0]), "something is");
		if (off)
			CHECK(sums.n_singles == 1 && sums.single[0].own.total == 50 &&
				      sums.single[0].own.self == 46,
			      "the most expensive b");
		regions_free(&sums);
	}
	/* Subtracting more than the cost shows a negative value. */
	made_init(&m, "a", 1);
	m.counter[0].own[0] = (struct timeline_own){ true, 1500, 0, 0, 0 };
	MADE_ADD(&m, 1, p);
	sum_up(&m, &take_off);
	CHECK_EQ(regions_single(&row("a")->sum[0], 0, NULL), 1040 - 1500, "less than nothing");
	CHECK_EQ(regions_self(&sums, row("a"), 0), 1040 - 1500, "likewise");
	CHECK_EQ(regions_singles(&row("a")->sum[0]), 1, "one");
	regions_free(&sums);
}

/* Each counter has its own overhead, at every depth. */
TEST(own_cost_of_two_counters)
{
	static const struct made_point p[] = {
		{ B, "a", { 0, 0 } },      { B, "b", { 100, 1000 } }, { B, "c", { 200, 2000 } },
		{ E, "c", { 300, 3000 } }, { B, "c", { 310, 3100 } }, { E, "c", { 320, 3200 } },
		{ E, "b", { 400, 4000 } }, { E, "a", { 500, 5000 } },
	};
	struct made m;

	made_init(&m, "a", 2);
	m.counter[0].own[0] = (struct timeline_own){ true, 1, 2, 0, 0 };
	m.counter[1].own[0] = (struct timeline_own){ true, 30, 40, 0, 0 };
	MADE_ADD(&m, 1, p);
	sum_up(&m, &plain);
	CHECK_EQ(row("a")->sum[0].own.self, 1 + 2, "a, first");
	CHECK_EQ(row("a")->sum[1].own.self, 30 + 40, "a, second");
	CHECK_EQ(row("b")->sum[0].own.self, 1 + 2 * 2, "b, first");
	CHECK_EQ(row("b")->sum[1].own.self, 30 + 2 * 40, "b, second");
	CHECK_EQ(row("a")->sum[0].own.total, 1 + 3 * 3, "all in a, first");
	CHECK_EQ(row("a")->sum[1].own.total, 30 + 3 * 70, "all in a, second");
	CHECK_EQ(row("c")->sum[1].own.total, 2 * 30, "both c");
	CHECK(sums.counter[1].own.whole == 30 + 3 * 70 && sums.counter[1].own.outside == 0,
	      "all, %g", sums.counter[1].own.whole);
	regions_free(&sums);
}

/*
 * A model of counting instructions: each read is an instant. The overhead is 3 after a begin and 4
 * before an end (inside 7), 5 after an end and 6 before a begin (outside 11). So the shown cost is
 * the program's own, in every row and in all.
 */
TEST(own_cost_taken_off_everywhere)
{
	enum { MANY = 100, THREADS = 2, IN = 7, OUT = 11, WORK = 20, BETWEEN = 9, AROUND = 50 };
	static struct made_point p[4 * MANY];
	struct regions_options take_off = { .subtract_own = true };
	uint64_t now = 1000;
	struct made m;

	for (size_t i = 0; i < MANY; i++) { /* a in b */
		p[4 * i] = (struct made_point){ B, "b", { now } };
		p[4 * i + 1] = (struct made_point){ B, "a", { now += 3 + AROUND + 6 } };
		p[4 * i + 2] = (struct made_point){ E, "a", { now += IN + WORK } };
		p[4 * i + 3] = (struct made_point){ E, "b", { now += 5 + 4 } };
		now += OUT + BETWEEN;
	}
	made_init(&m, "a", 1);
	m.counter[0].own[0] = (struct timeline_own){ true, IN, OUT, 0, 0 };
	for (unsigned i = 1; i <= THREADS; i++)
		MADE_ADD(&m, i, p);
	sum_up(&m, &take_off);
	CHECK(regions_self(&sums, row("a"), 0) == THREADS * MANY * WORK, "a");
	CHECK(regions_self(&sums, row("b"), 0) == THREADS * MANY * AROUND, "b");
	CHECK(regions_total(&sums, row("b"), 0) == THREADS * MANY * (WORK + AROUND), "b in all");
	CHECK(regions_outside(&sums, 0) == THREADS * (MANY - 1) * BETWEEN, "%g in no region",
	      regions_outside(&sums, 0));
	CHECK(regions_whole(&sums, 0) == THREADS * (MANY * (WORK + AROUND) + (MANY - 1) * BETWEEN),
	      "%g in all", regions_whole(&sums, 0));
	check_sum(0);
	regions_free(&sums);
}

/*
 * If the count is missing, no overhead is subtracted, neither for the outermost region nor outside
 * it.
 */
TEST(own_cost_of_what_is_not_known)
{
	static const struct made_point p[] = {
		{ B, "a", { 0 } },
		{ E, "a", { 100 } },
		{ B, "b", { 120 }, .missing = 1 },
		{ E, "b", { 300 } },
		{ B, "a", { 320 } },
		{ E, "a", { 400 } },
		{ B, "b", { 410 } },
		{ E, "b", { 420 }, .missing = 1 },
	};
	struct regions_options take_off = { .subtract_own = true };
	struct made m;

	made_init(&m, "a", 1);
	m.counter[0].own[0] = (struct timeline_own){ true, 4, 6, 0, 0 };
	MADE_ADD(&m, 1, p);
	sum_up(&m, &take_off);
	CHECK(regions_self(&sums, row("a"), 0) == 180 - 2 * 4, "both a");
	CHECK(regions_whole(&sums, 0) == 420 - 2 * 4 - 6, "%g in all", regions_whole(&sums, 0));
	check_sum(0);
	regions_free(&sums);
}

/*
 * A counter that stepped back between two regions: the outside cost is negative, not a huge number.
 */
TEST(outside_below_zero)
{
	static const struct made_point p[] = {
		{ B, "a", { 100 } }, { E, "a", { 200 } }, { B, "a", { 150 } }, { E, "a", { 260 } }
	};
	static const struct made_point back[] = {
		{ B, "a", { 100 } }, { E, "a", { 200 } }, { B, "a", { 50 } }, { E, "a", { 60 } }
	};
	struct made m;

	made_init(&m, "a", 1);
	MADE_ADD(&m, 1, p);
	MADE_ADD(&m, 2, back); /* it decreased from its first to its last value: not in whole */
	sum_up(&m, &plain);
	CHECK_EQ(sums.counter[0].whole, 160, "of the first");
	CHECK_EQ(sums.counter[0].outside, -50, "likewise");
	regions_free(&sums);
}

/* Single regions on both sides of 0, in order. */
TEST(singles_below_zero)
{
	static const struct made_point p[] = {
		{ B, "a", { 0 } },  { E, "a", { 7 } },  { B, "a", { 10 } }, { E, "a", { 11 } },
		{ B, "a", { 20 } }, { E, "a", { 24 } }, { B, "a", { 30 } }, { E, "a", { 35 } },
		{ B, "a", { 40 } }, { E, "a", { 42 } },
	};
	static const int64_t wanted[] = { -4, -3, -1, 0, 2 };
	struct regions_options take_off = { .subtract_own = true };
	struct made m;

	made_init(&m, "a", 1);
	m.counter[0].own[0] = (struct timeline_own){ true, 5, 0, 0, 0 };
	MADE_ADD(&m, 1, p);
	sum_up(&m, &take_off);
	CHECK_EQ(regions_singles(&row("a")->sum[0]), 5, "all");
	CHECK_EQ(regions_single(&row("a")->sum[0], 0, NULL), -4, "least");
	for (int i = 0; i < 5; i++)
		CHECK_EQ(regions_single(&row("a")->sum[0], (i + 1) / 5.0, NULL), wanted[i],
			 "rank %d", i + 1);
	regions_free(&sums);
}

/*
 * A counter without a value is excluded and counted as unknown, not taken as 0. Other counters are
 * not affected.
 */
TEST(counters_that_are_missing)
{
	static const struct made_point p[] = {
		{ B, "a", { 0, 0 } },
		{ B, "b", { 10, 5 } },
		{ E, "b", { 20, 5 }, .missing = 2 },
		{ B, "b", { 30, 7 } },
		{ E, "b", { 40, 9 } },
		{ E, "a", { 50, 20 } },
		{ B, "c", { 60, 20 }, .missing = 3 },
		{ E, "c", { 70, 30 } },
		{ B, "d", { 80, 40 } },
		{ E, "d", { 90, 39 } }, /* it decreased */
	};
	struct made m;

	made_init(&m, "a", 2);
	MADE_ADD(&m, 1, p);
	sum_up(&m, &plain);
	check_row("b", 0, 2, 20, 20, 0);
	check_row("b", 1, 2, 2, 2, 1);
	check_row("a", 0, 1, 30, 50, 0);
	check_row("a", 1, 1, 0, 20, 0);
	CHECK_EQ(row("a")->sum[1].rare->no_self, 1, "the cost of b is not known");
	check_row("c", 0, 1, 0, 0, 1);
	CHECK_EQ(row("c")->sum[0].each.n, 0, "no single one");
	check_row("d", 1, 1, 0, 0, 1);
	CHECK_EQ(sums.counter[1].backwards, 1, "said");
	CHECK_EQ(row("b")->sum[1].each.n, 1, "only the known cost");
	regions_free(&sums);
}

/* The cost during a gap belongs to no region. */
TEST(cut_and_lost)
{
	static const struct made_point p[] = {
		{ B, "main", { 0 } },
		{ B, "a", { 10 } },
		{ E, "a", { 12 }, .repaired = TIMELINE_AT_GAP },
		{ E, "main", { 12 }, .repaired = TIMELINE_AT_GAP },
		{ B, "(lost)", { 12 }, .repaired = TIMELINE_AT_GAP },
		{ TIMELINE_LOST, NULL, { 30 }, .number = 7 },
		{ E, "(lost)", { 30 }, .repaired = TIMELINE_AT_GAP },
		{ B, "a", { 40 } },
		{ E, "a", { 45 } },
		{ B, "main", { 50 }, .repaired = TIMELINE_AT_GAP },
		{ E, "main", { 50 } },
		{ B, "c", { 50 } },
		{ E, "c", { 52 }, .repaired = TIMELINE_REPAIRED },
		{ B, "(lost)", { 52 }, .repaired = TIMELINE_AT_GAP },
		{ TIMELINE_LOST, NULL, { 52 } },
		{ E, "(lost)", { 52 }, .repaired = TIMELINE_AT_GAP, .missing = 1 },
	};
	const struct regions_options dearest = { .single = "main", .singles = 2 };
	struct made m;

	made_init(&m, "a", 1);
	MADE_ADD(&m, 1, p);
	m.base.info.lost = 100;
	m.counter[0].own[0] = (struct timeline_own){ true, 1, 0, 0, 0 };
	m.label[made_number(&m, "(lost)")].record_path = TIMELINE_PATH_NONE;
	sum_up(&m, &dearest);
	check_row("main", 0, 2, 10, 12, 0);
	CHECK_EQ(row("main")->rare->cut, 2, "one has no end, the other no begin");
	CHECK_EQ(row("main")->sum[0].each.n, 0, "not in the distribution");
	CHECK_EQ(row("main")->rare->holes, 2, "because of the gap");
	check_row("a", 0, 2, 7, 7, 0);
	CHECK_EQ(row("a")->rare->holes, 1, "in one of two");
	CHECK_EQ(row("a")->sum[0].each.n, 1, "the other is whole");
	CHECK_EQ(row("c")->rare->cut, 1, "cut off");
	CHECK_EQ(row("c")->rare->holes, 0, "not because of a gap");
	check_row("(lost)", 0, 2, 18, 18, 1);
	CHECK_EQ(row("(lost)")->rare->cut, 0, "no region");
	CHECK_EQ(sums.regions, 5, "likewise");
	CHECK_EQ(sums.points, 6, "that are in the recording");
	CHECK_EQ(sums.counter[0].whole, 52, "all of it");
	CHECK_EQ(sums.counter[0].outside, 52 - 12 - 18 - 5 - 0 - 2,
		 "outside excludes the lost cost");
	CHECK(sums.counter[0].own.whole == 5, "recording a gap cost nothing");
	CHECK_EQ(sums.lost, 107, "known to be lost, in all");
	CHECK(sums.lost_unknown, "and more");
	CHECK(sums.n_singles == 2 && sums.single[0].cut && sums.single[0].cost == 12 &&
		      sums.single[0].self == 10,
	      "the most expensive one is cut and marked");
	regions_free(&sums);
}

/*
 * Started in one thread and finished in another: only clocks have a cost. The finish may be read
 * first.
 */
TEST(async)
{
	static const struct made_point one[] = {
		{ TIMELINE_FINISH, "t", { 500, 90 }, .number = 3 },
		{ TIMELINE_START, "t", { 100, 10 }, .number = 1 },
		{ TIMELINE_START, "t", { 110, 11 }, .number = 2 },
		{ TIMELINE_FINISH, "t", { 150, 20 }, .number = 2 },
		{ TIMELINE_START, "u", { 1, 1 }, .number = 9 },
	};
	static const struct made_point two[] = {
		{ TIMELINE_FINISH, "t", { 300, 5 }, .number = 1 },
		{ TIMELINE_START, "t", { 400, 6 }, .number = 3 },
	};
	struct made m;

	made_init(&m, "a", 2);
	MADE_ADD(&m, 1, one);
	MADE_ADD(&m, 2, two);
	sum_up(&m, &plain);
	check_row("t", 0, 3, 200 + 40 + 100, 200 + 40 + 100, 0);
	check_row("t", 1, 3, 9, 9, 2);
	CHECK_EQ(row("t")->rare->async, 3, "they are");
	CHECK_EQ(row("u")->count, 0, "one end alone does not count");
	CHECK_EQ(sums.unmatched, 1, "and said");
	CHECK_EQ(row("u")->rare->unbalanced->not_finished, 1, "the missing ends");
	CHECK_EQ(row("u")->rare->unbalanced->thread, 0, "and where");
	CHECK(!row("t")->rare->unbalanced, "all others are complete");
	CHECK_EQ(row("t")->sum[0].rare->async, 340, "not nested in regions");
	CHECK_EQ(sums.counter[0].async, 340, "of all labels");
	CHECK_EQ(sums.counter[0].whole, 0, "no thread did anything");
	regions_free(&sums);
}

/*
 * Timings among the most expensive single regions, with the threads of both ends, in any reading
 * order. The label's regions keep their order. A thread without a region begins with its first
 * timing.
 */
TEST(async_among_the_dearest)
{
	static const struct made_point one[] = {
		{ TIMELINE_FINISH, "t", { 500, 90 }, .number = 3 },
		{ B, "t", { 50, 1 } },
		{ TIMELINE_START, "t", { 100, 10 }, .number = 1 },
		{ TIMELINE_START, "t", { 110, 11 }, .number = 2 },
		{ TIMELINE_FINISH, "t", { 150, 20 }, .number = 2 },
		{ E, "t", { 170, 25 } },
		{ TIMELINE_START, "u", { 1, 1 }, .number = 9 },
	};
	static const struct made_point two[] = {
		{ TIMELINE_FINISH, "t", { 300, 5 }, .number = 1 },
		{ TIMELINE_START, "t", { 400, 6 }, .number = 3 },
	};
	static const struct {
		uint64_t cost, begin, offset;
		size_t thread, end_thread;
		bool async, begin_known;
	} wanted[] = {
		{ 200, 50, 2, 0, 1, true, true },
		{ 120, 0, 1, 0, 0, false, true },
		{ 100, 0, 101, 1, 0, true, true },
		{ 40, 60, 3, 0, 0, true, true },
	};
	const struct regions_options clock = { .single = "t", .singles = 9 },
				     few = { .single = "t", .singles = 1 },
				     faults = { .single = "t", .singles = 9, .by = "faults" };
	struct made m;

	made_init(&m, "a", 2);
	MADE_ADD(&m, 1, one);
	MADE_ADD(&m, 2, two);
	sum_up(&m, &clock);
	CHECK_EQ(sums.n_singles, 4);
	for (size_t i = 0; sums.n_singles == 4 && i < 4; i++) {
		const struct regions_single *s = &sums.single[i];

		CHECK_EQ(s->cost, wanted[i].cost, "single %zu", i);
		CHECK_EQ(s->begin, wanted[i].begin, "single %zu", i);
		CHECK_EQ(s->begin_known, wanted[i].begin_known, "single %zu", i);
		CHECK_EQ(s->offset, wanted[i].offset, "single %zu", i);
		CHECK_EQ(s->thread, wanted[i].thread, "single %zu", i);
		CHECK_EQ(s->end_thread, wanted[i].end_thread, "single %zu", i);
		CHECK_EQ(s->async, wanted[i].async, "single %zu", i);
	}
	CHECK_EQ(sums.counter[0].across, 0, "clocks continue across threads");
	CHECK_EQ(sums.counter[1].across, 2, "faults of two threads");
	regions_free(&sums);

	sum_up(&m, &few);
	CHECK(sums.n_singles == 1 && sums.single[0].cost == 200, "the most expensive one");
	regions_free(&sums);

	sum_up(&m, &faults);
	CHECK_EQ(sums.n_singles, 2, "the region, and the timing on one thread");
	CHECK_EQ(sums.single[1].cost, 9);
	CHECK_EQ(sums.single[1].begin, 10);
	regions_free(&sums);

	/* A second recording does not change where those of the first one begin. */
	sum_up(&m, &clock);
	CHECK_EQ(regions_add(&sums, &m.base, NULL), 0);
	CHECK(sums.n_singles == 8 && sums.single[0].begin == 50 && sums.single[1].begin == 50 &&
		      sums.single[1].thread == 2,
	      "twice the same");
	regions_free(&sums);
}

/*
 * The first finish that is read counts. A second one is reported, whether the start is read before
 * it or after it.
 */
TEST(async_twice)
{
	static const struct made_point one[] = {
		{ TIMELINE_FINISH, "early", { 50 }, .number = 1 },
		{ TIMELINE_FINISH, "early", { 90 }, .number = 1 },
		{ TIMELINE_START, "late", { 100 }, .number = 2 },
		{ TIMELINE_FINISH, "late", { 110 }, .number = 2 },
		{ TIMELINE_FINISH, "late", { 150 }, .number = 2 },
		{ TIMELINE_FINISH, "never", { 160 }, .number = 3 },
		{ TIMELINE_START, "again", { 170 }, .number = 4 },
		{ TIMELINE_START, "again", { 180 }, .number = 4 },
	};
	static const struct made_point two[] = { { TIMELINE_START, "early", { 20 }, .number = 1 } };
	const struct regions_options second = { .thread = "2" };
	struct made m;

	made_init(&m, "a", 1);
	MADE_ADD(&m, 1, one);
	MADE_ADD(&m, 2, two);
	sum_up(&m, &plain);
	check_row("early", 0, 1, 30, 30, 0);
	check_row("late", 0, 1, 10, 10, 0);
	CHECK_EQ(row("early")->rare->unbalanced->finished_again, 1,
		 "reported before its start was read");
	CHECK_EQ(row("late")->rare->unbalanced->finished_again, 1, "reported after it");
	CHECK_EQ(row("late")->rare->unbalanced->not_started, 0, "it was");
	CHECK_EQ(row("never")->rare->unbalanced->not_started, 1, "no start anywhere");
	CHECK_EQ(row("again")->rare->unbalanced->not_finished, 2, "neither of two starts");
	CHECK_EQ(sums.unmatched, 5, "all of them");
	regions_free(&sums);

	sum_up(&m, &second);
	CHECK_EQ(sums.unmatched, 0, "its finish is in a thread that was not selected");
	CHECK_EQ(sums.left_out, 1, "and this is reported");
	regions_free(&sums);
}

/*
 * The median of an even count is halfway between the middle two, rounded down; also if subtracting
 * the overhead makes values negative.
 */
TEST(median_of_regions)
{
	static const struct made_point p[] = {
		{ B, "a", { 0 } },  { E, "a", { 7 } },  { B, "a", { 10 } }, { E, "a", { 20 } },
		{ B, "b", { 30 } }, { E, "b", { 35 } }, { B, "b", { 40 } }, { E, "b", { 41 } },
		{ B, "b", { 50 } }, { E, "b", { 59 } },
	};
	struct regions_sum_rare_fields less = { 0 };
	struct regions_sum below = { .rare = &less };
	struct made m;
	uint64_t error;

	made_init(&m, "a", 1);
	MADE_ADD(&m, 1, p);
	sum_up(&m, &plain);
	CHECK_EQ(regions_median(&row("a")->sum[0], &error), 8, "of 7 and 10");
	CHECK_EQ(error, 0, "exact");
	CHECK_EQ(regions_median(&row("b")->sum[0], NULL), 5, "of 1, 5 and 9");
	regions_free(&sums);

	distribution_add(&less.below, 3);
	distribution_add(&below.each, 0);
	CHECK_EQ(regions_median(&below, NULL), -2, "of -3 and 0");
	distribution_free(&less.below);
	distribution_free(&below.each);
}

TEST(async_beside_nested)
{
	static const struct made_point p[] = {
		{ B, "main", { 0 } },
		{ TIMELINE_START, "t", { 10 }, .number = 1 },
		{ B, "t", { 20 } },
		{ E, "t", { 50 } },
		{ TIMELINE_FINISH, "t", { 90 }, .number = 1 },
		{ E, "main", { 100 } },
	};
	struct made m;

	made_init(&m, "a", 1);
	MADE_ADD(&m, 1, p);
	sum_up(&m, &plain);
	CHECK_EQ(row("t")->sum[0].self, 110, "one nested in it, one not");
	CHECK(regions_nested_self(&sums, row("t"), 0) == 30, "of that in it");
	CHECK(regions_nested_self(&sums, row("main"), 0) + 30 + (double)sums.counter[0].outside ==
		      (double)sums.counter[0].whole,
	      "adds up to all");
	regions_free(&sums);
}

TEST(many_async_at_once)
{
	enum { N = 1000 };
	static struct made_point p[2 * N];
	struct made m;

	for (size_t i = 0; i < N; i++) {
		/* all hash to few slots */
		p[i] = (struct made_point){ TIMELINE_START, "t", { i }, .number = i * 64 };
		p[N + i] = (struct made_point){
			TIMELINE_FINISH, "t", { 10 * N }, .number = (i * 7 % N) * 64
		};
	}
	made_init(&m, "a", 1);
	MADE_ADD(&m, 1, p);
	sum_up(&m, &plain);
	CHECK_EQ(row("t")->count, N, "each half was matched");
	CHECK_EQ(row("t")->sum[0].total, 10 * N * N - N * (N - 1) / 2, "sum");
	CHECK_EQ(sums.unmatched, 0, "none is left");
	regions_free(&sums);
}

TEST(threads_and_singles)
{
	static const struct made_point one[] = {
		{ B, "a", { 0 } }, { E, "a", { 5 } }, { B, "a", { 10 } }, { E, "a", { 30 } }
	};
	static const struct made_point two[] = {
		{ B, "b", { 100 } }, { B, "a", { 103 } }, { E, "a", { 113 } }, { E, "b", { 120 } }
	};
	struct regions_options o = { .per_thread = true, .single = "a", .singles = 2 };
	struct made m;

	made_init(&m, "a", 1);
	MADE_ADD(&m, 7, one);
	MADE_ADD(&m, 8, two);
	sum_up(&m, &o);
	CHECK_EQ(sums.n, 3, "a in two threads, b in one");
	CHECK_EQ(sums.row[0].count, 2, "of the first thread");
	CHECK_EQ(sums.n_singles, 2, "as many as wanted");
	CHECK_EQ(sums.single[0].cost, 20, "the most expensive");
	CHECK_EQ(sums.single[1].cost, 10, "the next");
	CHECK_EQ(sums.single[1].begin, 3, "from the thread's first value");
	CHECK_EQ(sums.single[1].around, sums.row[1].label, "in b");
	CHECK_EQ(sums.single[0].around, LABELS_NONE, "in nothing");
	CHECK_EQ(sums.counter[0].whole, 30 + 20, "all threads");
	regions_free(&sums);
}

TEST_MAIN()
