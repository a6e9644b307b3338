/* SPDX-License-Identifier: MIT */
/* Windows of made records: the wall time of a row is that of its counts, or not known. */
#include <errno.h>
#include <stdlib.h>
#include "windows/window_private.h"
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

/* The command's process and perhaps a child, which is counted or not; windows of 100 on two CPUs, of `total` counted in all. */
enum child { NO_CHILD, A_CHILD, NOT_COUNTED };

static struct window_end after(enum child child, uint64_t total, struct rows *r)
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
			     .name = name, .names = NAME_SIZE, .inherit = child != NOT_COUNTED };
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
	struct window_end end;

	for (enum child child = NO_CHILD; child <= NOT_COUNTED; child += NOT_COUNTED) {
		end = after(child, 350, &r);
		CHECK(!end.rest && !end.rests_unknown && !end.unseen && r.n == 4, "%zu rows", r.n);
		CHECK(r.row[3].rest && r.first[3] == 50 && r.row[1].moved && !r.row[2].moved);
		end = after(child, 300, &r);
		CHECK(!end.rest && r.n == 3, "nothing is left");
	}
}

TEST(the_rest_of_several_threads_is_known_of_all_together)
{
	struct rows r;
	struct window_end end = after(A_CHILD, 350, &r);

	CHECK(end.rest && end.rest[0] == 50 && end.unseen == 1 && !end.rests_unknown && r.n == 3, "%zu rows", r.n);
	free(end.rest);
	end = after(A_CHILD, 299, &r);
	CHECK(!end.rest && end.rests_unknown && r.n == 3, "windows of 300 do not fit 299");
}

/* A process of three threads that was there before, two of them asked for; one has a window. */
TEST(of_threads_that_were_asked_for_those_without_windows_are_known)
{
	uint64_t value[] = { 100 };
	char name[NAME_SIZE] = "x";
	struct entry entries[] = {
		{ .kind = IS_FORK, .pid = 7, .tid = 71, .at = 7 },
		{ .kind = IS_FORK, .pid = 7, .tid = 8, .at = 7 },
		{ .kind = IS_COMM, .pid = 7, .tid = 7 },
		{ .kind = IS_COMM, .pid = 7, .tid = 71 },
		{ .time = 1500, .kind = IS_FORK, .pid = 7, .tid = 9, .at = 8 },
		{ .time = 2000, .kind = IS_WINDOW, .pid = 7, .tid = 8 },
	};
	struct sample_tally event = { .share = 1, .total.value = 130 };
	const struct sample_outcome o = { .event = &event, .n_events = 1, .started_ns = 1000 };
	const struct {
		const char *tids;
		bool inherit;
		uint64_t unseen;
	} row[] = { { NULL, true, 3 }, { NULL, false, 2 }, { "7,8", true, 2 }, { "8,7", false, 1 }, { "8", false, 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		const struct window_plan plan = { .every = 100, .where.tids = row[i].tids };
		struct collect c = { .plan = &plan, .n = 1, .strands = 1, .entry = entries, .entries = ARRAY_SIZE(entries), .value = value,
				     .values = 1, .name = name, .names = NAME_SIZE, .inherit = row[i].inherit };
		struct rows r = { .sink = { take_thread, take_window } };
		struct window_end end = { 0 };

		CHECK_EQ(windows_build(&c, &r.sink, &o, &end, NULL), 0);
		CHECK(end.unseen == row[i].unseen && end.rest && end.rest[0] == 30 && r.n == 1, "row %zu: %u", i, (unsigned)end.unseen);
		free(end.rest);
	}
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
			     .name = name, .names = NAME_SIZE, .inherit = true };
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
