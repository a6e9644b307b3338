/* SPDX-License-Identifier: MIT */
/*
 * Fibers: switches between them are only declared here, no stack is changed;
 * tests/programs/fibers.c has real ones.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "base/text.h"
#include "recording/region_format.h"
#include "regions/timeline/timeline.h"
#include "tap.h"
#include "tare/fiber.h"
#include "tare/region.h"

TARE_REGION(a, "a");
TARE_REGION(b, "b");
TARE_REGION(own, "own");

static char path[128];

static void start(const char *counters)
{
	struct tare_error err = TARE_ERROR_INIT;

	snprintf(path, sizeof(path), "fiber-test-%d.tare", (int)getpid());
	CHECK_EQ(tare_regions_start(path, counters, &err), 0, "%s", err.what);
}

static struct timeline *stop(void)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline *t = NULL;

	CHECK_EQ(tare_regions_stop(&err), 0, "%s", err.what);
	CHECK_EQ(timeline_open(&t, path, &err), 0, "%s", err.what);
	if (!t)
		exit(1);
	CHECK(!timeline_info(t)->damage, "%s", timeline_info(t)->damage);
	CHECK_EQ(timeline_info(t)->lost, 0);
	unlink(path);
	return t;
}

/* "name: a( b( b) a)"; '!' marks a repaired point. The clock of a thread must not decrease. */
static void expect(struct timeline *t, size_t thread, const char *words)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct text got = { 0 };
	struct timeline_point p;
	struct cursor *c = NULL;
	uint64_t last = 0;

	CHECK(thread < timeline_info(t)->n_threads, "%zu threads", timeline_info(t)->n_threads);
	if (thread >= timeline_info(t)->n_threads)
		return;
	CHECK(timeline_info(t)->thread[thread].complete, "thread %zu has an end", thread);
	if (timeline_info(t)->thread[thread].tid >= 20000000)
		text_add(&got, "%s:", timeline_info(t)->thread[thread].name);
	CHECK_EQ(timeline_thread(t, thread, &c, &err), 0, "%s", err.what);
	while (cursor_next(c, &p, &err) == 1) {
		text_add(&got, " %s%c%s", timeline_label(t, p.label)->name, "()."[p.kind],
			 p.repaired ? "!" : "");
		if (timeline_info(t)->n_counters) {
			CHECK(p.value[0] >= last, "clock");
			last = p.value[0];
		}
	}
	cursor_close(c);
	CHECK_STR(got.s ? got.s : "", words);
	text_free(&got);
}

static void begin_in(struct tare_fiber *f, struct tare_region *r)
{
	CHECK_EQ(tare_region_switch(f), 0);
	tare_region_begin(r);
}

static void end_in(struct tare_fiber *f, struct tare_region *r)
{
	CHECK_EQ(tare_region_switch(f), 0);
	tare_region_end(r);
}

static void interleave(struct tare_fiber *x, struct tare_fiber *y)
{
	tare_region_begin(&own);
	begin_in(x, &a);
	begin_in(y, &b);
	end_in(x, &a);
	end_in(y, &b);
	end_in(NULL, &own);
}

TEST(regions_of_two_fibers_are_whole)
{
	struct tare_fiber *x = tare_fiber_new("x"), *y = tare_fiber_new(NULL);
	struct timeline *t;

	start("none");
	interleave(x, y);
	t = stop();
	CHECK_EQ(timeline_info(t)->n_threads, 3);
	expect(t, 0, " own( own)");
	expect(t, 1, "x: a( a)");
	expect(t, 2, "fiber 2: b( b)");
	CHECK(timeline_info(t)->thread[1].tid != timeline_info(t)->thread[2].tid,
	      "tracks of their own");
	timeline_close(t);
	tare_fiber_free(x);
	tare_fiber_free(y);
	tare_fiber_free(NULL);
}

TEST(a_clock_goes_on_in_a_region_that_says_so)
{
	struct tare_fiber *x = tare_fiber_new("x"), *y = tare_fiber_new("y");
	struct timeline *t;

	start("wall-time");
	interleave(x, y);
	tare_fiber_free(x);
	t = stop();
	tare_fiber_free(y);
	expect(t, 0, " own( (switched out)( (switched out)) own)");
	expect(t, 1, "x: a( (switched out)( (switched out)) a)");
	expect(t, 2, "y: b( (switched out)( (switched out)) b)");
	timeline_close(t);
}

static void recurse(struct tare_fiber *f, struct tare_fiber *other, int depth)
{
	tare_region_begin(&a);
	begin_in(other, &b);
	CHECK_EQ(tare_region_switch(f), 0);
	if (depth)
		recurse(f, other, depth - 1);
	end_in(other, &b);
	end_in(f, &a);
}

TEST(recursion_across_switches)
{
	struct tare_fiber *x = tare_fiber_new("x"), *y = tare_fiber_new("y");
	struct timeline *t;

	start("none");
	tare_region_switch(x);
	recurse(x, y, 2);
	tare_region_switch(NULL);
	t = stop();
	expect(t, 0, "x: a( a( a( a) a) a)");
	expect(t, 1, "y: b( b( b( b) b) b)");
	timeline_close(t);
	tare_fiber_free(x);
	tare_fiber_free(y);
}

TEST(an_end_without_a_begin_is_of_its_fiber_alone)
{
	struct tare_fiber *x = tare_fiber_new("x");
	struct timeline *t;

	start("none");
	tare_region_begin(&a);
	end_in(x, &a);
	end_in(NULL, &a);
	begin_in(x, &b);
	tare_region_switch(NULL);
	tare_fiber_free(x);
	t = stop();
	expect(t, 0, " a( a)");
	expect(t, 1, "x: a(! a) b( b)!");
	timeline_close(t);
}

TEST(off_and_between_recordings)
{
	struct tare_fiber *x = tare_fiber_new("x"), *y = tare_fiber_new("y"),
			  *z = tare_fiber_new("z");
	struct timeline *t;

	CHECK_EQ(tare_region_switch(x), 0);
	CHECK(tare_fiber_current() == x, "known while off");
	start("none"); /* within x, which was switched to before */
	tare_region_begin(&a);
	begin_in(y, &b);
	begin_in(NULL, &own);
	CHECK_EQ(tare_region_switch(y), 0);
	t = stop();
	expect(t, 0, "x: a( a)!");
	expect(t, 1, "y: b( b)!");
	expect(t, 2, " own( own)!");
	timeline_close(t);
	CHECK_EQ(tare_region_switch(z), 0);
	tare_fiber_free(y); /* this thread was in it when recording stopped */
	y = tare_fiber_new("y");
	start("none");
	tare_region_begin(&a);
	tare_region_end(&a);
	begin_in(x, &b);
	end_in(x, &b);
	begin_in(y, &b);
	end_in(NULL, &own);
	tare_fiber_free(z);
	t = stop();
	expect(t, 0, "z: a( a)");
	expect(t, 1, "x: b( b)");
	expect(t, 2, "y: b( b)!");
	expect(t, 3, " own(! own)");
	timeline_close(t);
	tare_fiber_free(x);
	tare_fiber_free(y);
}

static void *end_and_begin(void *fiber)
{
	tare_region_begin(&own);
	end_in(fiber, &a);
	begin_in(fiber, &b);
	return NULL; /* in the fiber */
}

static void on_thread(void *(*run)(void *), void *with)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, run, with), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void move(const char *counters, const char *first, const char *second)
{
	struct tare_fiber *x = tare_fiber_new("x");
	struct timeline *t;

	start(counters);
	begin_in(x, &a);
	tare_region_switch(NULL);
	on_thread(end_and_begin, x);
	end_in(x, &b);
	tare_region_switch(NULL);
	t = stop();
	expect(t, 0, first);
	expect(t, 1, second);
	timeline_close(t);
	tare_fiber_free(x);
}

TEST(a_fiber_resumes_on_another_thread_which_ends_in_it)
{
	move("none", "x: a( a) b( b)", " own( own)!");
	move("wall-time",
	     "x: a( (switched out)( (switched out)) a) b( (switched out)( (switched out)) b)",
	     " own( (switched out)( (switched out)) own)!");
}

static void *take_fiber(void *fiber)
{
	tare_region_begin(&own);
	CHECK_EQ(tare_region_switch(fiber), -EBUSY);
	CHECK(tare_fiber_current() == NULL, "nothing changed");
	tare_fiber_free(fiber); /* nor this */
	tare_region_end(&own);
	return NULL;
}

TEST(a_fiber_that_runs_elsewhere_is_refused)
{
	struct tare_fiber *x = tare_fiber_new("x");
	struct timeline *t;

	start("none");
	begin_in(x, &a);
	on_thread(take_fiber, x);
	end_in(x, &a);
	tare_fiber_free(x); /* while it runs here */
	CHECK(tare_fiber_current() == NULL, "it is no more");
	tare_region_begin(&b);
	tare_region_end(&b);
	t = stop();
	expect(t, 0, "x: a( a)");
	expect(t, 1, " own( (switch refused: the fiber runs on another thread). own)");
	expect(t, 2, " b( b)");
	timeline_close(t);
}

TEST(a_forked_child_has_fibers_of_its_own)
{
	struct tare_fiber *x = tare_fiber_new("x"), *y = tare_fiber_new("y");
	struct timeline *t;
	pid_t child;
	int status;

	start("none");
	begin_in(y, &b);
	begin_in(x, &a);
	child = fork();
	if (!child) {
		end_in(x, &a);
		end_in(y, &b);
		tare_region_switch(NULL);
		tare_fiber_free(y);
		tare_regions_stop(NULL);
		tare_fiber_free(x);
		_exit(tap_failures ? 1 : 0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	end_in(x, &a);
	end_in(y, &b);
	tare_region_switch(NULL);
	t = stop();
	expect(t, 0, "y: b( b)");
	expect(t, 1, "x: a( a)");
	expect(t, 2, "x: a(! a)");
	expect(t, 3, "y: b(! b)");
	timeline_close(t);
	tare_fiber_free(x);
	tare_fiber_free(y);
}

/* Blocks of ended fibers are reused, and their points stay. */
TEST(thousand_fibers_one_after_another)
{
	struct stat st;
	struct timeline *t;

	start("wall-time");
	for (int i = 0; i < 1000; i++) {
		struct tare_fiber *x = tare_fiber_new(NULL);

		begin_in(x, &a);
		end_in(x, &a);
		tare_region_switch(NULL);
		tare_fiber_free(x);
	}
	CHECK_EQ(stat(path, &st), 0);
	CHECK(st.st_size < 1000 * FILE_PAGE + 8 * BLOCK_BYTES, "%lld bytes", (long long)st.st_size);
	t = stop();
	CHECK_EQ(timeline_info(t)->n_threads, 1000);
	for (size_t i = 0; i < timeline_info(t)->n_threads; i++) {
		char words[64];

		snprintf(words, sizeof(words), "%s: a( a)", timeline_info(t)->thread[i].name);
		expect(t, i, words);
	}
	timeline_close(t);
}

/* More points than a block has, over many switches. */
TEST(blocks_of_fibers_fill_up)
{
	struct tare_fiber *x = tare_fiber_new("x"), *y = tare_fiber_new("y");
	struct timeline *t;
	uint64_t points[3] = { 2 * 30000, 2 * 30000, 0 };

	start("wall-time");
	for (int i = 0; i < 30000; i++) {
		begin_in(x, &a);
		begin_in(y, &b);
		end_in(x, &a);
		end_in(y, &b);
	}
	tare_region_switch(NULL);
	t = stop();
	CHECK_EQ(timeline_info(t)->n_threads, 2);
	for (size_t i = 0; i < timeline_info(t)->n_threads; i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct timeline_point p;
		struct cursor *c = NULL;
		uint64_t n = 0, away = 0;

		CHECK_EQ(timeline_thread(t, i, &c, &err), 0, "%s", err.what);
		while (cursor_next(c, &p, &err) == 1) {
			bool is_away = timeline_label(t, p.label)->name[0] == '(';

			CHECK_EQ(p.repaired, 0);
			away += is_away;
			n += !is_away;
		}
		CHECK_EQ(n, points[i]);
		CHECK_EQ(away, points[i] * 2 - 2 * 1);
		cursor_close(c);
	}
	timeline_close(t);
	tare_fiber_free(x);
	tare_fiber_free(y);
}

TEST_MAIN()
