/* SPDX-License-Identifier: MIT */
/* Windows of made records: the wall time of a row is that of its counts, or not known. */
#include <errno.h>
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

/* A child that begins at 1000 ns on the first of two CPUs: windows of 100 and, when it ends at 5000, `ended` counted on each. */
static struct rows child(unsigned second_cpu, const uint64_t *ended)
{
	uint64_t value[] = { 100, second_cpu ? 100 : 200, ended[0], ended[1] };
	struct entry entries[] = {
		{ .time = 1000, .kind = IS_FORK, .pid = 7, .tid = 7 },
		{ .time = 2000, .kind = IS_WINDOW, .pid = 7, .tid = 7, .at = 0 },
		{ .time = 3000, .kind = IS_WINDOW, .pid = 7, .tid = 7, .cpu = second_cpu, .strand = second_cpu, .at = 1 },
		{ .time = 5000, .kind = IS_REST, .pid = 7, .tid = 7, .strand = 0, .at = 2 },
		{ .time = 5000, .kind = IS_REST, .pid = 7, .tid = 7, .strand = 1, .at = 3 },
	};
	const struct window_plan plan = { .every = 100 };
	struct collect c = { .plan = &plan, .n = 1, .strands = 2, .entry = entries, .entries = ARRAY_SIZE(entries), .value = value, .values = 4 };
	struct sample_tally event = { .share = 1 };
	const struct sample_outcome o = { .event = &event, .n_events = 1 };
	struct rows r = { .sink = { take_thread, take_window } };
	struct window_end end = { 0 };

	CHECK_EQ(windows_build(&c, &r.sink, &o, &end, NULL), 0);
	CHECK(r.n == 3 && r.row[2].rest && !r.row[0].moved && r.row[0].wall_ns == 1000 && r.row[1].wall_ns == 1000);
	return r;
}

TEST(the_rest_of_one_cpu_is_since_the_last_window)
{
	const struct rows r = child(0, (const uint64_t[]){ 250, 0 });

	CHECK(!r.row[1].moved && r.first[2] == 50 && r.row[2].wall_ns == 2000, "%u", (unsigned)r.row[2].wall_ns);
}

TEST(the_rest_of_another_cpu_began_before)
{
	const struct rows stayed = child(1, (const uint64_t[]){ 100, 130 }), left = child(1, (const uint64_t[]){ 190, 130 }),
			  met = child(0, (const uint64_t[]){ 250, 10 });

	CHECK(stayed.row[1].moved && stayed.first[2] == 30 && stayed.row[2].wall_ns == 2000, "all of it is of the CPU of its last window");
	CHECK(left.row[1].moved && left.first[2] == 120 && !left.row[2].wall_ns, "90 of it are since 2000");
	CHECK(met.first[2] == 60 && !met.row[2].wall_ns, "10 of it are of a CPU without a window, since 1000");
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
