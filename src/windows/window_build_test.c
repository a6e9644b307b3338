/* SPDX-License-Identifier: MIT */
/* Windows of literal records: the wall time of a row belongs to its counts, or is unknown. */
#include <errno.h>
#include <stdlib.h>
#include "peak.h"
#include "windows/window_private.h"
#include "tap.h"

struct rows {
	struct window_sink sink;
	struct window row[8];
	uint64_t first[8]; /* the first event's count in each */
	size_t n;
};

static int take_thread(struct window_sink *self, const struct window_thread *t,
		       struct tare_error *err)
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

/* A literal record; `value` is the window's value, or the parent's tid for a fork. */
struct made {
	uint64_t time;
	enum kind kind;
	uint32_t pid, tid, cpu;
	uint64_t value;
};

static void put_entry(struct collect *c, const struct made *m)
{
	struct entry *e = collect_add(c, NULL);

	if (!e)
		abort();
	e->time = m->time;
	e->kind = m->kind;
	e->pid = m->pid;
	e->tid = m->tid;
	e->cpu = e->strand = m->cpu;
	if (m->kind == IS_WINDOW)
		e->value[0] = m->value;
	else
		e->parent = (uint32_t)m->value;
}

/* Windows of one event, counted in `places`. */
static struct window_end build(const struct window_plan *plan, const struct made *made, size_t n,
			       bool inherit, const struct sample_outcome *o, struct rows *r)
{
	struct window_end end = { 0 };
	struct collect c;

	*r = (struct rows){ .sink = { take_thread, take_window } };
	collect_open(&c, plan, &r->sink, o);
	CHECK_EQ(collect_begin(&c, 1, 2, inherit, NULL), 0);
	for (size_t i = 0; i < n; i++)
		put_entry(&c, &made[i]);
	CHECK_EQ(collect_end(&c, o, &end, NULL), 0);
	collect_free(&c);
	return end;
}

/*
 * The command's process, and maybe a child, which may be counted; windows of 100 on two CPUs, out
 * of `total` in all.
 */
enum child { NO_CHILD, A_CHILD, NOT_COUNTED };

static struct window_end after(enum child child, uint64_t total, struct rows *r)
{
	static const struct made made[] = {
		{ 1000, IS_COMM, 7, 7, 0, 0 },     { 2000, IS_WINDOW, 7, 7, 0, 100 },
		{ 3000, IS_WINDOW, 7, 7, 1, 100 }, { 3500, IS_WINDOW, 7, 7, 1, 200 },
		{ 4000, IS_FORK, 8, 8, 0, 7 },
	};
	char *argv[] = { "x", NULL };
	const struct window_plan plan = { .every = 100, .argv = argv };
	struct sample_tally event = { .share = 1, .total.value = total };
	const struct sample_outcome o = { .event = &event, .n_events = 1 };

	return build(&plan, made, child ? 5 : 4, child != NOT_COUNTED, &o, r);
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

	CHECK(end.rest && end.rest[0] == 50 && end.unseen == 1 && !end.rests_unknown && r.n == 3,
	      "%zu rows", r.n);
	free(end.rest);
	end = after(A_CHILD, 299, &r);
	CHECK(!end.rest && end.rests_unknown && r.n == 3, "windows of 300 do not fit 299");
}

/* An existing process with three threads, two of them selected; one has a window. */
TEST(of_threads_that_were_asked_for_those_without_windows_are_known)
{
	static const struct made made[] = {
		{ 0, IS_FORK, 7, 71, 0, 7 },   { 0, IS_FORK, 7, 8, 0, 7 },
		{ 0, IS_COMM, 7, 7, 0, 0 },    { 0, IS_COMM, 7, 71, 0, 0 },
		{ 1500, IS_FORK, 7, 9, 0, 8 }, { 2000, IS_WINDOW, 7, 8, 0, 100 },
	};
	struct sample_tally event = { .share = 1, .total.value = 130 };
	const struct sample_outcome o = { .event = &event, .n_events = 1, .started_ns = 1000 };
	const struct {
		const char *tids;
		bool inherit;
		uint64_t unseen;
	} row[] = { { NULL, true, 3 },
		    { NULL, false, 2 },
		    { "7,8", true, 2 },
		    { "8,7", false, 1 },
		    { "8", false, 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		const struct window_plan plan = { .every = 100, .target.tids = row[i].tids };
		struct rows r;
		struct window_end end = build(&plan, made, ARRAY_SIZE(made), row[i].inherit, &o,
					      &r);

		CHECK(end.unseen == row[i].unseen && end.rest && end.rest[0] == 30 && r.n == 1,
		      "row %zu: %u", i, (unsigned)end.unseen);
		free(end.rest);
	}
}

/*
 * The command's process, reported at 1000 ns; a thread begun at 1500 ns; a window of each at 2000
 * and 3000.
 */
static struct rows first_windows(uint64_t started_ns)
{
	static const struct made made[] = {
		{ 1000, IS_COMM, 7, 7, 0, 0 },      { 1500, IS_FORK, 7, 8, 0, 0 },
		{ 2000, IS_WINDOW, 7, 7, 0, 1020 }, { 2001, IS_WINDOW, 7, 8, 0, 1500 },
		{ 3000, IS_WINDOW, 7, 7, 0, 2020 }, { 3001, IS_WINDOW, 7, 8, 0, 2500 },
	};
	const struct window_plan plan = { .every = 1000 };
	struct sample_tally event = { .share = 1 };
	const struct sample_outcome o = { .event = &event,
					  .n_events = 1,
					  .started_ns = started_ns };
	struct rows r;

	build(&plan, made, ARRAY_SIZE(made), true, &o, &r);
	CHECK_EQ(r.n, (size_t)4);
	CHECK(r.row[2].wall_ns == 1000 && r.row[3].wall_ns == 1000,
	      "second windows are since the first ones");
	return r;
}

TEST(the_first_window_is_since_its_counts_began)
{
	const struct rows at_exec = first_windows(0), before = first_windows(1400),
			  late = first_windows(1600);

	CHECK_EQ(at_exec.row[0].wall_ns, 0u, "the command's counts began before it was reported");
	CHECK_EQ(at_exec.row[1].wall_ns, 501u, "a thread's begin with it");
	CHECK_EQ(before.row[1].wall_ns, 501u);
	CHECK_EQ(late.row[0].wall_ns, 0u, "existing threads count since 1600");
	CHECK_EQ(late.row[1].wall_ns, 0u);
}

/* ---- piece by piece ---- */

enum { ROUND = 1000, CPUS = 4 };

struct hash {
	struct window_sink sink;
	uint64_t is, rows;
};

static int hash_window(struct window_sink *self, const struct window *w, struct tare_error *err)
{
	struct hash *h = (struct hash *)self;
	const uint64_t of[] = { w->thread,        w->begin, w->time_ns, w->wall_ns,
				(uint64_t)w->cpu, w->moved, w->value[0] };

	(void)err;
	for (size_t i = 0; i < ARRAY_SIZE(of); i++)
		h->is = (h->is ^ of[i]) * 0x100000001b3u;
	h->rows++;
	return 0;
}

/*
 * n windows of two threads that move among CPUs. Each CPU's ring is read in turn, every 100 ms: a
 * round of ROUND records. Those of the last CPU come a round later. With `rounds`, round() is
 * called.
 */
static struct hash in_rounds(size_t n, bool rounds)
{
	const struct window_plan plan = { .every = 100 };
	struct sample_tally event = { .share = 1, .total.value = 100 * n };
	const struct sample_outcome o = { .event = &event, .n_events = 1 };
	struct hash h = { .sink = { take_thread, hash_window } };
	struct window_end end = { 0 };
	uint64_t count[2][CPUS] = { 0 };
	struct made late[ROUND];
	size_t n_late = 0;
	struct collect c;

	collect_open(&c, &plan, &h.sink, &o);
	CHECK_EQ(collect_begin(&c, 1, CPUS, true, NULL), 0);
	for (size_t first = 0; first < n; first += ROUND) {
		for (size_t i = 0; i < n_late; i++)
			put_entry(&c, &late[i]);
		n_late = 0;
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			for (size_t i = first; i < first + ROUND; i++) {
				uint32_t thread = i / 7 % 2,
					 on = (uint32_t)(i / 50 + thread) % CPUS;
				struct made m = { 1000 + i * 100000, IS_WINDOW, 7,
						  7 + thread,        cpu,       0 };

				if (on != cpu)
					continue;
				m.value = count[thread][cpu] += 100;
				if (cpu + 1 == CPUS)
					late[n_late++] = m;
				else
					put_entry(&c, &m);
			}
		if (rounds)
			CHECK_EQ(c.sink.round(&c.sink, NULL), 0);
	}
	for (size_t i = 0; i < n_late; i++)
		put_entry(&c, &late[i]);
	CHECK_EQ(collect_end(&c, &o, &end, NULL), 0);
	CHECK(!end.rest && !end.rests_unknown && h.rows == n, "%zu rows of %zu", (size_t)h.rows, n);
	collect_free(&c);
	return h;
}

TEST(piece_by_piece_the_rows_are_the_same)
{
	CHECK_EQ(in_rounds(400 * ROUND, true).is, in_rounds(400 * ROUND, false).is);
}

static void make(void *n)
{
	in_rounds(*(const size_t *)n, true);
}

TEST(memory_does_not_depend_on_the_number_of_records)
{
	size_t n = 50 * ROUND, more = 10 * n;
	uint64_t few = peak_of(make, &n), many = peak_of(make, &more);

	CHECK(few && many && many < few + PEAK_ROOM, "%zu bytes for %zu windows, %zu for %zu",
	      (size_t)few, n, (size_t)many, more);
}

TEST_MAIN()
