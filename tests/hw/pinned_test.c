/* SPDX-License-Identifier: MIT */
/*
 * Pinned reads on a real PMU, without and with interference by the kernel; and reads by other
 * threads.
 */
#include <pthread.h>
#include <sched.h>
#include "pmu.h"
#include "tare/group.h"
#include "tare/pinned.h"

static struct tare_events *events_of(const char *text)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_events *events = tare_events_new(text, &err);

	if (!CHECK(events, "%s", err.what))
		exit(TAP_FAILED);
	return events;
}

/* A counting group of this thread; skips the test if registers cannot be read. */
static struct tare_group *started(const char *text)
{
	struct tare_events *events = events_of(text);
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_group *g = tare_group_open(events, 0, TARE_USER_READS, &err);

	tare_events_free(events);
	if (!CHECK(g && tare_group_start(g, &err) == 0, "%s", err.what))
		exit(TAP_FAILED);
	return g;
}

static struct tare_group *started_with_user_reads(const char *text)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_group *g = started(text);

	if (!tare_group_user_reads(g, &err))
		tap_skip("user_reads", "%s (%s)", err.what, err.hint);
	return g;
}

/* Keep this function minimal: it is part of the measured code. */
static uint64_t count_of(struct tare_group *g)
{
	uint64_t count;

	if (tare_group_count(g, 0, &count, NULL) < 0)
		exit(TAP_FAILED);
	return count;
}

struct visitor {
	struct tare_group *g;
	bool user_reads;
	uint64_t count;
	struct tare_error err;
};

static void *visit(void *arg)
{
	struct visitor *v = arg;

	loop(1000000); /* in its own registers, which must not be taken for the group's */
	v->user_reads = tare_group_user_reads(v->g, &v->err);
	v->count = count_of(v->g);
	return NULL;
}

TEST(another_thread_never_reads_its_own_registers)
{
	need_pmu();

	struct tare_group *g = started_with_user_reads("instructions:u");
	struct visitor v = { .g = g };
	pthread_t thread;
	uint64_t before = count_of(g);

	pthread_create(&thread, NULL, visit, &v);
	pthread_join(thread, NULL);
	CHECK(!v.user_reads);
	CHECK(strstr(v.err.what, "another thread"), "%s", v.err.what);
	CHECK(v.count >= before && v.count <= count_of(g) && v.count < before + 100000,
	      "%llu, between %llu and now", (unsigned long long)v.count,
	      (unsigned long long)before);
	tare_group_close(g);
}

static __attribute__((noinline)) uint64_t pinned_window(struct tare_pinned *p, uint64_t rounds)
{
	uint64_t before, after;

	if (tare_pinned_read(p, &before, 1) < 0)
		exit(TAP_FAILED);
	loop(rounds);
	if (tare_pinned_read(p, &after, 1) < 0)
		exit(TAP_FAILED);
	return tare_pinned_difference(p, before, after);
}

/* The minimum of a few windows: in that one the thread did not leave the CPU. */
static uint64_t quiet_window(struct tare_pinned *p, uint64_t rounds)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t events = pinned_window(p, rounds);

		if (events < least)
			least = events;
	}
	return least;
}

/* NULL if the register is too narrow; checks that this is the reason. */
static struct tare_pinned *pinned_of(const char *text)
{
	struct tare_events *events = events_of(text);
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_pinned *p = tare_pinned_open(events, &err);

	tare_events_free(events);
	if (!p) {
		printf("# %s: %s\n", text, err.what);
		CHECK_EQ(err.code, EOPNOTSUPP);
		CHECK(strstr(err.what, "bits"), "%s", err.what);
	}
	return p;
}

TEST(pinned_windows)
{
	static const char *const texts[] = { "instructions:u", "cycles:u" };
	int opened = 0;

	need_pmu();
	tare_group_close(started_with_user_reads("cycles:u"));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct tare_pinned *p = pinned_of(texts[i]);

		if (!p)
			continue;
		opened++;

		volatile uint64_t one = 1; /* not a constant: the same code as below */
		uint64_t around = quiet_window(p, one) - 2;

		/*
		 * In the emulated machine cycles are instructions; elsewhere their number is
		 * unknown.
		 */
		for (uint64_t rounds = 1; (i == 0 || exact()) && rounds <= 100000; rounds *= 10)
			CHECK_NEAR(quiet_window(p, rounds), 2 * rounds + around);
		/* Longer: the thread left the CPU, and the second read looked the register up
		 * again. */
		for (uint64_t rounds = 1000000; exact() && rounds <= 10000000; rounds *= 10) {
			uint64_t more = pinned_window(p, rounds) - 2 * rounds - around;

			CHECK(more < 300, "%llu events too many", (unsigned long long)more);
		}
		tare_pinned_close(p);
	}
	CHECK(opened > 0, "neither can be pinned");
}

/* While another process counts on the same CPU and takes turns with this one, the kernel touches
 * the registers all the time: reads go out of line and stay right. */
TEST(pinned_beside_another)
{
	enum { ROUNDS = 2000000, WINDOWS = 20 };

	need_pmu();
	tare_group_close(started_with_user_reads("cycles:u"));

	struct tare_pinned *p = pinned_of("instructions:u");

	if (!p)
		p = pinned_of("cycles:u");
	if (!CHECK(p))
		return;

	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);

	pid_t pid = fork();

	if (pid == 0) {
		struct tare_group *g = started("{cycles:u,instructions:u}");

		for (;;) {
			loop(1000000);
			count_of(g);
		}
	}
	for (int i = 0; i < WINDOWS; i++) {
		uint64_t events = pinned_window(p, ROUNDS);

		CHECK(events >= 2 * ROUNDS && (events < 2 * ROUNDS + 5000 || !exact()),
		      "window %d: %llu of %d", i, (unsigned long long)events, 2 * ROUNDS);
		sched_yield();
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tare_pinned_close(p);
}

/*
 * More groups that cannot share than there are counters: the kernel disables one, and that is
 * reported.
 */
TEST(never_share_or_fail)
{
	enum { GROUPS = 40 };
	struct tare_events *events;
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_group *g[GROUPS];
	struct tare_reading r = { 0 };
	int opened = 0, ret = 0;

	need_pmu();
	events = events_of("instructions:u");
	while (ret == 0 && opened < GROUPS) {
		g[opened] = tare_group_open(events, 0, TARE_NEVER_SHARE, &err);
		if (!CHECK(g[opened], "%s", err.what))
			break;
		opened++;
		tare_group_start(g[opened - 1], &err);
		loop(1000);
		ret = tare_group_read(g[opened - 1], &r, &err);
		CHECK(ret < 0 || r.quality == TARE_COUNTED, "group %d is %s", opened,
		      tare_quality_name(r.quality));
	}
	CHECK_EQ(ret, -EIO, "after %d groups", opened);
	CHECK(strstr(err.what, "lost its counters") && strstr(err.hint, "tare doctor"), "%s (%s)",
	      err.what, err.hint);
	while (opened > 0)
		tare_group_close(g[--opened]);
	tare_events_free(events);
}

TEST_MAIN()
