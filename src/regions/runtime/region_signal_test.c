/* SPDX-License-Identifier: MIT */
/*
 * Regions in signal handlers that interrupt a region at each of its instructions in turn: there is
 * a trap after each instruction (steps.h), and the trap's handler records the regions. Handlers
 * also interrupt handlers.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "regions/runtime/region_counters.h"
#include "regions/timeline/timeline.h"
#include "steps.h"
#include "tap.h"
#include "tare/fiber.h"
#include "tare/region.h"

/*
 * A trap takes longer than a short point of the inline functions can express, so they read a clock
 * that excludes traps.
 */
static uint64_t fake_clock;

static void hide_time(void *context)
{
	steps_clock_read(context, ++fake_clock);
}

static void fake_from_here(void)
{
	fake_clock = (tare_region_thread.last & ~((uint64_t)1 << 63)) + 100;
}

TARE_REGION(plain, "plain");
TARE_REGION(handlers, "handlers");

static char path[128];

static void start(const char *counters)
{
	struct tare_error err = TARE_ERROR_INIT;

	region_trust_clock = true;
	snprintf(path, sizeof(path), "region-signal-test-%d.tare", (int)getpid());
	CHECK_EQ(tare_regions_start(path, counters, &err), 0, "%s", err.what);
}

static void on_trap(void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER };

	sigaction(SIGTRAP, &action, NULL);
}

static void region_of(struct tare_region *r)
{
	tare_region_begin(r);
	tare_region_end(r);
}

/* The contents of the file. */
struct found {
	uint64_t plain, handlers, made, others, once, repaired, lost, threads,
		first;           /* first: "plain" of the first thread */
	bool complete, timeless; /* timeless: a clock was not read, or steps back */
	bool lost_plain, lost_handlers, lost_once, lost_any; /* may be among the lost ones */
};

static void read_back(struct found *out)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline *t = NULL;
	struct timeline_point p;
	struct cursor *c;
	int ret;

	*out = (struct found){ 0 };
	CHECK_EQ(timeline_open(&t, path, &err), 0, "%s", err.what);
	if (!t)
		exit(1);
	if (timeline_info(t)->damage)
		CHECK_EQ(sscanf(timeline_info(t)->damage,
				"process %*d lost %lu points of signal handlers", &out->lost),
			 1, "%s", timeline_info(t)->damage);
	out->threads = timeline_info(t)->n_threads;
	out->complete = out->threads && timeline_info(t)->thread[0].complete;
	for (size_t i = 0; i < out->threads; i++) {
		CHECK_EQ(timeline_thread(t, i, &c, &err), 0, "%s", err.what);
		while ((ret = cursor_next(c, &p, &err)) == 1) {
			const char *name = p.kind == TIMELINE_LOST
				? ""
				: timeline_label(t, p.label)->name;

			CHECK(p.kind != TIMELINE_LOST);
			out->plain += !strcmp(name, "plain") && !p.repaired;
			out->first += i == 0 && !strcmp(name, "plain") && !p.repaired;
			out->handlers += !strcmp(name, "handlers") && !p.repaired;
			out->once += !strcmp(name, "once");
			out->made += !strcmp(name, "made");
			out->others += p.kind != TIMELINE_BEGIN && p.kind != TIMELINE_END;
			out->repaired += p.repaired;
			out->timeless |= p.missing != 0;
		}
		CHECK_EQ(ret, 0, "%s", err.what);
		cursor_close(c);
	}
	out->lost_any = timeline_info(t)->handlers_any;
	for (uint32_t i = 0; i < timeline_info(t)->n_labels; i++) {
		const struct timeline_label *l = timeline_label(t, i);

		out->lost_plain |= l->handlers && !strcmp(l->name, "plain");
		out->lost_handlers |= l->handlers && !strcmp(l->name, "handlers");
		out->lost_once |= l->handlers && !strcmp(l->name, "once");
	}
	timeline_close(t);
	remove(path);
}

static volatile bool timeless;
static uint64_t handled, recorded;
static uint64_t due, wide; /* from the trap number `due` on, this many handlers record */
/* one of the handlers' instructions is interrupted, too, by a handler that records */
static bool deep;
static uint64_t inner, inner_due;
static int depth;

/*
 * With the fake clock, the handler must be stepped itself, so that its clock is the fake one, too.
 */
static void record(void)
{
	uint64_t before = steps_before;
	bool stepped = timeless || (deep && !depth);

	recorded++;
	depth++;
	if (stepped)
		step_from_here();
	region_of(&handlers);
	if (stepped)
		step_no_more();
	depth--;
	steps_before = before;
}

static void record_in_handler(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	if (timeless)
		hide_time(context);
	if (depth == 0 && handled++ >= due && handled <= due + wide) {
		inner = 0;
		record();
	} else if (depth == 0 && handled > due + wide + (timeless ? 60 : 0)) {
		/* the remaining steps are not needed, and each trap is slow */
		steps_leave(context);
	} else if (depth == 1 && deep && inner++ == inner_due) {
		record();
	}
}

/*
 * Regions one after another, each interrupted one instruction later. Returns the number of
 * instructions of a region.
 */
static uint64_t interrupted_everywhere(const char *counters, uint64_t traps, bool nested)
{
	struct found f;
	uint64_t rounds = 0;
	bool more;

	start(counters);
	region_of(&plain);
	region_of(&handlers);
	on_trap(record_in_handler);
	wide = traps;
	deep = nested;
	recorded = due = 0;
	do {
		handled = 0;
		inner_due = rounds * 37 % 211;
		fake_from_here();
		step_from_here();
		region_of(&plain);
		step_no_more();
		region_of(&plain); /* it leaves no trace */
		more = handled > due;
		due += (wide > 1 ? wide : deep && !timeless ? 7 : 1) * tap_one_in();
		rounds++;
	} while (more);
	CHECK_EQ(tare_regions_stop(NULL), 0);
	CHECK(recorded > 30 / tap_one_in());
	read_back(&f);
	CHECK_EQ(f.plain, 2 + 4 * rounds, "with %s", counters);
	CHECK_EQ(f.handlers, 2 + 2 * recorded, "with %s, %llu lost", counters,
		 (unsigned long long)f.lost);
	CHECK(!f.lost && !f.repaired && f.complete);
	CHECK(!f.timeless);
	printf("# %s: %llu regions, %llu of handlers\n", counters, (unsigned long long)rounds,
	       (unsigned long long)recorded);
	return due;
}

static void in_all_ways(const char *counters)
{
	bool clock = !strcmp(counters, "wall-time"); /* else there are no short points */
	uint64_t steps[2];

	need_steps();
	for (int i = 0; i < (clock ? 2 : 1); i++) {
		timeless = i;
		steps[i] = interrupted_everywhere(counters, 1, false);
		interrupted_everywhere(counters, 4, false);
		interrupted_everywhere(counters, 1, true);
	}
	if (clock)
		CHECK(steps[1] < steps[0], "the inline functions write short points");
}

TEST(regions_are_whole_whatever_instruction_of_theirs_a_handler_interrupts)
{
	in_all_ways("wall-time");
}

TEST(points_of_the_general_kind_likewise)
{
	in_all_ways("none");
}

/*
 * Record regions until the block has room for only one more point. Returns the number of regions.
 */
static uint64_t fill_block(void)
{
	uint64_t n = 0;

	for (; tare_region_thread.place.at + 6 < (uintptr_t)*tare_region_thread.end; n++)
		region_of(&plain);
	return n;
}

/*
 * The next region writes the block to the file, which takes about 20,000 instructions. The handler
 * interrupts at steps of some thousand.
 */
TEST(blocks_that_are_full_likewise)
{
	const unsigned apart = 15013;
	uint64_t n = 0, blocks = 0;
	struct found f;

	need_steps();
	start("wall-time");
	region_of(&handlers);
	on_trap(record_in_handler);
	wide = 1;
	for (bool more = true; more; due += apart * tap_one_in(), blocks++) {
		n += 4 + fill_block();
		handled = 0;
		step_from_here();
		for (int i = 0; i < 4; i++)
			region_of(&plain);
		step_no_more();
		more = handled > due;
	}
	CHECK_EQ(tare_regions_stop(NULL), 0);
	CHECK(due > 8000 && recorded + 1 == blocks,
	      "the block was written within %llu instructions", (unsigned long long)due);
	read_back(&f);
	CHECK_EQ(f.plain, 2 * n);
	CHECK_EQ(f.handlers, 2 + 2 * recorded);
	CHECK(!f.repaired && !f.lost && !f.timeless && f.complete);
}

/* With signals blocked, only signals raised by the program's own instructions call handlers. */
static bool signals_blocked(void *context)
{
	return sigismember(&((ucontext_t *)context)->uc_sigmask, SIGUSR2) == 1;
}

/* For an event that can happen once: at the n-th instruction of a region. */
static void (*thing)(void);

static void do_thing(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	if (timeless)
		hide_time(context);
	if (signals_blocked(context) || handled++ != due)
		return;
	steps_leave(context);
	thing();
}

static bool happens_at(uint64_t n, void (*what)(void))
{
	region_of(&plain);
	region_of(&handlers);
	handled = 0;
	due = n;
	thing = what;
	on_trap(do_thing);
	fake_from_here();
	step_from_here();
	region_of(&plain);
	step_no_more();
	return handled > n;
}

static void fork_here(void)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		due = UINT64_MAX; /* marks the child */
		return;
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0, "of the child at instruction %llu", (unsigned long long)due);
}

static void forks(void)
{
	struct found f;
	uint64_t n = 0;
	bool more = true;

	start("wall-time");
	for (; more; n++) {
		more = happens_at(n * tap_one_in(), fork_here);
		region_of(&handlers);
		region_of(&handlers);
		if (due == UINT64_MAX) {
			tare_regions_stop(NULL);
			_exit(tap_failures ? 1 : 0);
		}
	}
	CHECK_EQ(tare_regions_stop(NULL), 0);
	read_back(&f);
	CHECK_EQ(f.threads, n, "one of the parent, one of each child");
	CHECK_EQ(f.handlers, 6 * n + 4 * (n - 1));
	CHECK(f.plain >= 4 * n && f.plain <= 6 * n, "%llu of %llu", (unsigned long long)f.plain,
	      (unsigned long long)n);
}

TEST(a_handler_forks_within_a_point)
{
	need_steps();
	forks();
	timeless = true;
	forks();
}

static bool by_clone;

static void record_in_child(void)
{
	int status;
	pid_t child = by_clone ? (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL)
			       : fork();

	if (child == 0) {
		region_of(&handlers);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
}

/* Points of a handler's child while the interrupted point has not ended. */
TEST(what_a_handler_records_in_a_child_is_there_or_told_as_lost)
{
	uint64_t lost = 0;

	need_steps();
	for (unsigned i = 0; i < 2; i++) {
		by_clone = i;
		for (uint64_t n = 5; n < 60; n += 7) {
			struct found f;

			start("none");
			happens_at(n, record_in_child);
			CHECK_EQ(tare_regions_stop(NULL), 0);
			read_back(&f);
			CHECK_EQ(f.handlers + f.lost, 2 + 2, "at instruction %llu",
				 (unsigned long long)n);
			CHECK(f.lost_handlers == (f.lost > 0) && !f.lost_plain && !f.lost_any);
			CHECK_EQ(f.plain, 4);
			lost += f.lost;
		}
		CHECK(lost > 0);
		lost = 0;
	}
}

static int later[2];
static pid_t cloned;

/* Clone a child without fork handlers. It continues from here after its parent. */
static void clone_here(void)
{
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	char byte;

	if (child) {
		cloned = child;
		return;
	}
	if (read(later[0], &byte, 1) != 1)
		_exit(1);
	due = UINT64_MAX; /* marks the child */
}

/*
 * First record that many regions. Then further ones are interrupted, and as many are recorded
 * before the child continues. False: there was no n-th instruction.
 */
static bool clones_at(uint64_t n, unsigned before, unsigned steps)
{
	int status;

	for (unsigned i = 0; i < before; i++)
		region_of(&plain);
	handled = cloned = 0;
	due = n;
	thing = clone_here;
	on_trap(do_thing);
	fake_from_here();
	step_from_here();
	for (unsigned i = 0; i < steps; i++)
		region_of(&plain);
	step_no_more();
	if (due == UINT64_MAX) {
		region_of(&handlers);
		region_of(&handlers);
		tare_regions_stop(NULL);
		_exit(tap_failures ? 1 : 0);
	}
	for (unsigned i = 0; i <= before; i++)
		region_of(&plain);
	if (!cloned)
		return false;
	CHECK_EQ(write(later[1], "", 1), 1);
	CHECK_EQ(waitpid(cloned, &status, 0), cloned);
	CHECK_EQ(status, 0, "of the child at instruction %llu", (unsigned long long)n);
	return true;
}

static void read_clones(uint64_t plain_of_parent, uint64_t children)
{
	struct found f;

	CHECK_EQ(tare_regions_stop(NULL), 0);
	read_back(&f); /* also checks that nothing is damaged */
	CHECK_EQ(f.threads, 1 + children);
	CHECK_EQ(f.first, plain_of_parent);
	CHECK_EQ(f.handlers, 2 + 4 * children);
	CHECK(f.complete && !f.lost);
}

TEST(a_handler_makes_children_by_clone_within_a_point)
{
	need_steps();
	CHECK_EQ(pipe(later), 0);
	for (int i = 0; i < 2; i++) {
		uint64_t n = 0, made = 0;
		bool more = true;

		timeless = i;
		start("wall-time");
		region_of(&handlers);
		for (; more; n++) {
			more = clones_at(3 * n * tap_one_in() + (unsigned)i, 1, 1);
			made += more;
		}
		read_clones(2 * 4 * n, made);
	}
}

/*
 * The handler interrupts the writing of a block to the file. Later, the child continues at a block
 * that was begun again twice.
 */
TEST(a_handler_makes_children_by_clone_while_a_block_is_written)
{
	enum { BEFORE = 10850, STEPS = 20 }; /* 64 KiB are full after about 10,860 */
	/* before the writing, and twice during its checksum */
	static const uint64_t places[] = { 30, 2500, 12000 };

	need_steps();
	CHECK_EQ(pipe(later), 0);
	timeless = true;
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		start("wall-time");
		region_of(&handlers);
		read_clones(2 * (2 * BEFORE + STEPS + 1), clones_at(places[i], BEFORE, STEPS));
	}
}

static void stop_here(void)
{
	CHECK_EQ(tare_regions_stop(NULL), 0);
}

static void stops(void)
{
	bool more = true;

	for (uint64_t n = 0; more; n += tap_one_in()) {
		struct found f;

		start("wall-time");
		more = happens_at(n, stop_here);
		CHECK_EQ(tare_regions_stop(NULL), 0);
		read_back(&f);
		CHECK(f.plain >= 2 && f.plain <= 4 && f.handlers == 2 && !f.lost,
		      "%llu points at instruction %llu", (unsigned long long)f.plain,
		      (unsigned long long)n);
		CHECK_EQ(f.threads, 1);
	}
}

TEST(a_handler_stops_the_recording_within_a_point)
{
	need_steps();
	stops();
	timeless = true;
	stops();
}

enum { MOST = 4096 };
static struct tare_region once[MOST];

static void use_once(void)
{
	region_of(&once[due]);
}

static void names_once(void)
{
	uint64_t n = 0;

	for (bool more = true; more && n < MOST; n += 3 * tap_one_in()) {
		struct found f;

		once[n] = (struct tare_region){ TARE_LABEL_UNKNOWN, __LINE__, "once", __FILE__ };
		start("wall-time");
		more = happens_at(n, use_once);
		CHECK_EQ(tare_regions_stop(NULL), 0);
		read_back(&f);
		CHECK_EQ(f.once, more ? 2 : 0, "at instruction %llu, %llu lost",
			 (unsigned long long)n, (unsigned long long)f.lost);
		CHECK(!f.lost && f.plain == 4 && f.handlers == 2, "at instruction %llu",
		      (unsigned long long)n);
	}
	CHECK(n < MOST && n > 60);
}

TEST(a_region_that_is_first_used_within_a_point_of_another)
{
	need_steps();
	names_once();
}

/* All other kinds of points, with a label that the first of them creates. */
static void use_all(void)
{
	const char *arg[] = { "argument" };
	tare_label label = tare_label_new("made", arg, 1);
	struct tare_timing t = tare_timing_start(label);

	tare_label_begin(label);
	tare_label_instant(label);
	tare_label_integer(label, 7);
	tare_timing_finish(t);
	tare_label_end(label);
}

static void make_all_points(const char *counters)
{
	uint64_t n = 0, made = 0;
	struct found f;

	start(counters);
	for (bool more = true; more; n++) {
		more = happens_at(n * tap_one_in(), use_all);
		made += more;
		region_of(&plain);
	}
	CHECK_EQ(tare_regions_stop(NULL), 0);
	CHECK(made > 30 / tap_one_in());
	read_back(&f);
	CHECK_EQ(f.made, 6 * made, "with %s", counters);
	CHECK_EQ(f.others, 4 * made);
	CHECK_EQ(f.plain, 6 * n);
	CHECK(f.handlers == 2 * n && !f.lost && !f.repaired && !f.timeless && f.complete);
}

TEST(labels_and_other_points_within_a_point)
{
	need_steps();
	make_all_points("wall-time");
	make_all_points("none");
}

enum { STORM = 3000 };

static void storm(void)
{
	region_of(&plain);
	tare_region_begin(&plain);
	for (int i = 0; i < STORM; i++)
		region_of(&handlers);
	tare_region_end(&plain);
}

/* A handler with more regions than there is room for: the recorded begins and ends still match. */
TEST(a_storm_within_a_point_leaves_whole_regions)
{
	bool lost = false;

	need_steps();
	for (uint64_t n = 0; n < 60; n += 6) {
		struct found f;

		start("wall-time");
		happens_at(n, storm);
		CHECK_EQ(tare_regions_stop(NULL), 0);
		read_back(&f);
		CHECK_EQ(f.plain, 8, "at instruction %llu", (unsigned long long)n);
		CHECK_EQ(f.handlers + f.lost, 2 + 2 * STORM);
		CHECK(!f.repaired && !f.timeless && !(f.handlers & 1) && f.handlers > 4000);
		CHECK(f.lost_handlers == (f.lost > 0) && !f.lost_any);
		lost |= f.lost > 0;
	}
	CHECK(lost);
}

static sigjmp_buf out_of_handler;

static void jump(void)
{
	region_of(&handlers);
	siglongjmp(out_of_handler, 1);
}

/* This is forbidden, but the recording counts the lost points. */
TEST(a_handler_that_does_not_return_to_the_point)
{
	volatile bool lost = false;

	need_steps();
	for (volatile uint64_t n = 0; n < 60; n += 6) {
		struct found f;
		uint64_t there;

		start("wall-time");
		if (sigsetjmp(out_of_handler, 1) == 0) {
			happens_at(n, jump);
			CHECK(false, "no instruction %llu", (unsigned long long)n);
		}
		region_of(&handlers);
		tare_regions_stop(NULL);
		read_back(&f);
		there = f.handlers + f.lost;
		CHECK(there >= 6 && there <= 7, "%llu at instruction %llu",
		      (unsigned long long)there, (unsigned long long)n);
		CHECK(f.plain >= 2 && f.plain <= 4);
		lost |= f.lost > 0;
		if (f.lost)
			break; /* the thread does not have its place any more */
	}
	CHECK(lost);
}

static void record_here(void)
{
	region_of(&handlers);
}

static bool opened; /* the thread has a stream before its interrupted region */

static void *last_region(void *more)
{
	handled = 0;
	on_trap(do_thing);
	if (opened)
		region_of(&plain);
	step_from_here();
	region_of(&plain);
	step_no_more();
	*(bool *)more = handled > due;
	return NULL;
}

static void threads_end(unsigned apart)
{
	uint64_t n = 0;
	struct found f;
	bool more = true;

	start("wall-time");
	region_of(&plain);
	region_of(&handlers);
	thing = record_here;
	for (; more; n++) {
		pthread_t thread;

		due = n * apart * tap_one_in();
		CHECK_EQ(pthread_create(&thread, NULL, last_region, &more), 0);
		pthread_join(thread, NULL);
	}
	CHECK_EQ(tare_regions_stop(NULL), 0);
	CHECK(n > 4 / tap_one_in(), "%llu", (unsigned long long)n);
	read_back(&f);
	CHECK_EQ(f.plain, 2 + (opened ? 4 : 2) * n);
	CHECK_EQ(f.handlers, 2 + 2 * (n - 1), "%llu lost", (unsigned long long)f.lost);
	CHECK(f.threads == n + 1 && !f.lost && !f.repaired && !f.timeless && f.complete);
}

TEST(a_thread_ends_after_a_point_that_a_handler_interrupted)
{
	need_steps();
	opened = true;
	threads_end(2);
}

TEST(a_thread_begins_with_a_point_that_a_handler_interrupted)
{
	need_steps();
	threads_end(16001);
}

static void on_signal(int number)
{
	(void)number;
	region_of(&handlers);
}

static void empty_and_signal(tare_label label, unsigned n, void *with)
{
	(void)with;
	raise(SIGUSR1);
	for (unsigned i = 0; i < n; i++) {
		tare_label_begin(label);
		tare_label_end(label);
	}
}

TEST(a_signal_while_a_binding_measures_its_regions)
{
	struct found f;

	signal(SIGUSR1, on_signal);
	start("wall-time");
	region_of(&plain);
	CHECK_EQ(tare_region_measure(TARE_PATH_OTHER, empty_and_signal, NULL), 0);
	region_of(&plain);
	CHECK_EQ(tare_regions_stop(NULL), 0);
	read_back(&f);
	CHECK_EQ(f.handlers, 2);
	CHECK(f.plain == 4 && !f.lost && !f.repaired && !f.timeless);
}

static void switches(const char *counters)
{
	struct tare_fiber *fiber = tare_fiber_new("fiber");
	uint64_t n = 0, made = 0;
	struct found f;

	start(counters);
	on_trap(do_thing);
	thing = record_here;
	for (bool more = true; more; n++) {
		handled = 0;
		due = n * 11 * tap_one_in();
		tare_region_begin(&plain);
		step_from_here();
		tare_region_switch(fiber);
		step_no_more();
		more = handled > due;
		region_of(&plain);
		handled = 0;
		step_from_here();
		tare_region_switch(NULL);
		step_no_more();
		tare_region_end(&plain);
		made += more + (handled > due);
	}
	CHECK_EQ(tare_regions_stop(NULL), 0);
	tare_fiber_free(fiber);
	read_back(&f);
	CHECK(made > 20 / tap_one_in() && f.threads == 2, "%llu", (unsigned long long)made);
	CHECK_EQ(f.plain, 4 * n, "with %s", counters);
	CHECK_EQ(f.handlers, 2 * made, "with %s, %llu lost", counters, (unsigned long long)f.lost);
	CHECK(!f.lost && !f.repaired);
}

TEST(a_handler_within_a_switch_of_fibers)
{
	need_steps();
	switches("wall-time");
	switches("none");
}

static void record_and_stop(void)
{
	region_of(&handlers);
	CHECK_EQ(tare_regions_stop(NULL), 0);
}

TEST(a_handler_records_and_stops_the_recording_within_a_point)
{
	need_steps();
	for (uint64_t n = 0; n < 60; n += 2) {
		struct found f;

		start("wall-time");
		happens_at(n, record_and_stop);
		region_of(&plain);
		read_back(&f);
		CHECK_EQ(f.handlers, 4, "at instruction %llu, %llu lost", (unsigned long long)n,
			 (unsigned long long)f.lost);
		CHECK(f.plain >= 2 && f.plain <= 4 && !f.lost && !f.repaired);
	}
}

static void use_once_more(void)
{
	region_of(&once[due % MOST]);
}

/* fork() holds the recorder's lock. */
TEST(a_region_that_is_first_used_within_fork)
{
	uint64_t n = 0, used = 0;
	struct found f;

	need_steps();
	start("wall-time");
	region_of(&plain);
	on_trap(do_thing);
	thing = use_once_more;
	for (bool more = true; more && used < 100; n++) {
		pid_t child;

		due = n * 7 * tap_one_in();
		handled = 0;
		once[due % MOST] = (struct tare_region){ TARE_LABEL_UNKNOWN, __LINE__, "once",
							 __FILE__ };
		step_from_here();
		child = fork();
		step_no_more();
		if (child == 0)
			_exit(0);
		CHECK_EQ(waitpid(child, NULL, 0), child);
		more = handled > due;
		used += more;
		region_of(&plain);
	}
	CHECK_EQ(tare_regions_stop(NULL), 0);
	read_back(&f);
	CHECK(used > 10 / tap_one_in(), "%llu", (unsigned long long)used);
	CHECK_EQ(f.plain, 2 + 2 * n);
	CHECK(f.once >= 2 * used && !f.lost && !f.repaired, "%llu of %llu, %llu lost",
	      (unsigned long long)f.once, 2 * (unsigned long long)used, (unsigned long long)f.lost);
}

/* Points that were kept and not written when the process ends are lost, and the file says so. */
TEST(a_process_ends_between_the_handler_and_the_next_point)
{
	uint64_t written = 0, lost = 0;

	need_steps();
	timeless = true;
	for (uint64_t n = 0, more = 1; more; n += tap_one_in()) {
		struct found f;
		int status;
		pid_t child = fork();

		if (child == 0) {
			start("wall-time");
			_exit(happens_at(n, record_here));
		}
		CHECK_EQ(waitpid(child, &status, 0), child);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) <= 1, "status %#x", status);
		more = WEXITSTATUS(status);
		snprintf(path, sizeof(path), "region-signal-test-%d.tare", (int)child);
		read_back(&f);
		CHECK_EQ(f.handlers + f.lost, more ? 4 : 2, "at instruction %llu",
			 (unsigned long long)n);
		CHECK(f.plain == 4 && f.lost_handlers == (f.lost > 0) && !f.lost_any);
		written += f.handlers;
		lost += f.lost;
	}
	CHECK(written && lost);
}

static void exit_here(void)
{
	exit(tap_failures ? 1 : 0);
}

static void exits(void)
{
	for (uint64_t n = 0, more = 1; more; n += tap_one_in()) {
		struct found f;
		int status;
		pid_t child = fork();

		if (child == 0) {
			start("wall-time");
			happens_at(n, exit_here);
			_exit(33);
		}
		CHECK_EQ(waitpid(child, &status, 0), child);
		more = WIFEXITED(status) && WEXITSTATUS(status) == 0;
		CHECK(more || (WIFEXITED(status) && WEXITSTATUS(status) == 33),
		      "status %#x at instruction %llu", status, (unsigned long long)n);
		snprintf(path, sizeof(path), "region-signal-test-%d.tare", (int)child);
		read_back(&f);
		CHECK_EQ(f.complete, more);
		CHECK(f.plain >= 2 && f.plain <= 4, "%llu at instruction %llu",
		      (unsigned long long)f.plain, (unsigned long long)n);
	}
}

TEST(a_handler_ends_the_program_within_a_point)
{
	need_steps();
	exits();
	timeless = true;
	exits();
}

TEST_MAIN()
