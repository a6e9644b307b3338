/* SPDX-License-Identifier: MIT */
/* Windows of made records: the wall time of a row is that of its counts, or not known. */
#include <errno.h>
#include <stdlib.h>
#include "session/window_private.h"
#include "tap.h"

struct rows {
	struct window_sink sink;
	struct window row[8];
	uint64_t first[8]; /* what the first event counted in each */
	size_t n;
};

static int take_thread(struct window_sink *self, const struct window_thread *t, struct tare_error *err)
{
	(void)self, (void)t, (void)err;
	return 0;
}

static int take_window(struct window_sink *self, const struct window *w, struct tare_error *err)
{
	struct rows *r = (struct rows *)self;

	(void)err;
	if (!CHECK(r->n < ARRAY_SIZE(r->row)))
		return -E2BIG;
	r->first[r->n] = w->value[0];
	r->row[r->n++] = *w;
	return 0;
}

/* The command's process and perhaps a child, windows of 100 on two CPUs, of `total` counted in all. */
static struct window_end after(bool child, uint64_t total, struct rows *r)
{
	uint64_t value[] = { 100, 100, 200 };
	char name[NAME_SIZE] = "x";
	struct entry entries[] = {
		{ .time = 1000, .kind = IS_COMM, .pid = 7, .tid = 7, .at = 0 },
		{ .time = 2000, .kind = IS_WINDOW, .pid = 7, .tid = 7, .at = 0 },
		{ .time = 3000, .kind = IS_WINDOW, .pid = 7, .tid = 7, .cpu = 1, .strand = 1, .at = 1 },
		{ .time = 3500, .kind = IS_WINDOW, .pid = 7, .tid = 7, .cpu = 1, .strand = 1, .at = 2 },
		{ .time = 4000, .kind = IS_FORK, .pid = 8, .tid = 8, .at = 7 },
	};
	char *argv[] = { name, NULL };
	const struct window_plan plan = { .every = 100, .argv = argv };
	struct collect c = { .plan = &plan, .n = 1, .strands = 2, .entry = entries, .entries = child ? 5 : 4, .value = value, .values = 3,
			     .name = name, .names = NAME_SIZE };
	struct sample_tally event = { .share = 1, .total.value = total };
	const struct sample_outcome o = { .event = &event, .n_events = 1 };
	struct window_end end = { 0 };

	*r = (struct rows){ .sink = { take_thread, take_window } };
	CHECK_EQ(windows_build(&c, &r->sink, &o, &end, NULL), 0);
	return end;
}

TEST(the_rest_of_the_only_thread_is_its_last_row)
{
	struct rows r;
	struct window_end end = after(false, 350, &r);

	CHECK(!end.rest && !end.rests_unknown && r.n == 4, "%zu rows", r.n);
	CHECK(r.row[3].rest && r.first[3] == 50 && r.row[1].moved && !r.row[2].moved);
	end = after(false, 300, &r);
	CHECK(!end.rest && r.n == 3, "nothing is left");
}

TEST(the_rest_of_several_threads_is_known_of_all_together)
{
	struct rows r;
	struct window_end end = after(true, 350, &r);

	CHECK(end.rest && end.rest[0] == 50 && !end.rests_unknown && r.n == 3, "%zu rows", r.n);
	free(end.rest);
	end = after(true, 299, &r);
	CHECK(!end.rest && end.rests_unknown && r.n == 3, "windows of 300 do not fit 299");
}

/* The command's process, told of at 1000 ns; what was begun at 1500 ns; a window of each at 2000 and 3000. */
static struct rows first_windows(uint64_t started_ns)
{
	uint64_t value[] = { 1020, 1500, 2020, 2500 };
	char name[NAME_SIZE] = "x";
	struct entry entries[] = {
		{ .time = 1000, .kind = IS_COMM, .pid = 7, .tid = 7, .at = 0 },
		{ .time = 1500, .kind = IS_FORK, .pid = 7, .tid = 8 },
		{ .time = 2000, .kind = IS_WINDOW, .pid = 7, .tid = 7, .at = 0 },
		{ .time = 2001, .kind = IS_WINDOW, .pid = 7, .tid = 8, .at = 1 },
		{ .time = 3000, .kind = IS_WINDOW, .pid = 7, .tid = 7, .at = 2 },
		{ .time = 3001, .kind = IS_WINDOW, .pid = 7, .tid = 8, .at = 3 },
	};
	const struct window_plan plan = { .every = 1000 };
	struct collect c = { .plan = &plan, .n = 1, .strands = 1, .entry = entries, .entries = ARRAY_SIZE(entries), .value = value, .values = 4,
			     .name = name, .names = NAME_SIZE };
	struct sample_tally event = { .share = 1 };
	const struct sample_outcome o = { .event = &event, .n_events = 1, .started_ns = started_ns };
	struct rows r = { .sink = { take_thread, take_window } };
	struct window_end end = { 0 };

	CHECK_EQ(windows_build(&c, &r.sink, &o, &end, NULL), 0);
	CHECK_EQ(r.n, (size_t)4);
	CHECK(r.row[2].wall_ns == 1000 && r.row[3].wall_ns == 1000, "second windows are since the first ones");
	return r;
}

TEST(the_first_window_is_since_its_counts_began)
{
	const struct rows at_exec = first_windows(0), before = first_windows(1400), late = first_windows(1600);

	CHECK_EQ(at_exec.row[0].wall_ns, 0u, "the command's counts began before it was told of");
	CHECK_EQ(at_exec.row[1].wall_ns, 501u, "a thread's begin with it");
	CHECK_EQ(before.row[1].wall_ns, 501u);
	CHECK_EQ(late.row[0].wall_ns, 0u, "what was there already counts since 1600");
	CHECK_EQ(late.row[1].wall_ns, 0u);
}

TEST_MAIN()
