/* SPDX-License-Identifier: MIT */
/*
 * Reads from user space, through the public library: they return the same counts as read(2), have
 * the documented cost, survive the wrap of a 32-bit counter, and fall back to read(2) where they
 * must.
 */
#include <fcntl.h>
#include <pthread.h>
#include "pmu.h"
#include "tare/group.h"
#include "tare/pinned.h"

/* As documented in include/tare/pinned.h and docs/internals/performance.md. */
enum { PINNED_MOST = 11, PINNED_FURTHER = 6 };

static struct tare_events *events(const char *text)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_events *list = tare_events_new(text, &err);

	if (!CHECK(list, "%s: %s", text, err.what))
		_exit(TAP_FAILED);
	return list;
}

static struct tare_group *open_started(const char *text, unsigned flags)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_events *list = events(text);
	struct tare_group *g = tare_group_open(list, 0, flags, &err);

	if (!CHECK(g && tare_group_start(g, &err) == 0, "%s: %s", text, err.what))
		_exit(TAP_FAILED);
	tare_events_free(list);
	return g;
}

static uint64_t count(struct tare_group *g, size_t i)
{
	struct tare_error err = TARE_ERROR_INIT;
	uint64_t n = 0;

	CHECK(tare_group_count(g, i, &n, &err) == 0, "%s", err.what);
	return n;
}

static void need_user_reads(struct tare_group *g)
{
	struct tare_error why = TARE_ERROR_INIT;

	if (!tare_group_user_reads(g, &why))
		tap_skip("user_reads", "%s", why.what);
}

/* A machine-wide setting: changed, as root, in the emulated machine only. */
static void set_user_access(const char *value)
{
	static const char knob[] = "/proc/sys/kernel/perf_user_access";
	int fd = open(knob, O_WRONLY | O_CLOEXEC);

	if (!exact() || fd < 0)
		tap_skip("exact_pmu", "%s is not the test's to change here", knob);
	CHECK(write(fd, value, 1) == 1, "%s: %s", knob, strerror(errno));
	close(fd);
}

/* Events between two reads, with a loop in between; the same instructions for any loop. */
static __attribute__((noinline)) uint64_t window(struct tare_group *g, size_t i, uint64_t rounds)
{
	uint64_t before = count(g, i);

	loop(rounds);
	return count(g, i) - before;
}

/*
 * What a window counts in addition to its loop; from the second window on, everything is in memory.
 */
static uint64_t around(struct tare_group *g, size_t i)
{
	window(g, i, 1);
	return window(g, i, 1) - 2;
}

TEST(windows_of_any_size)
{
	need_pmu();

	struct tare_group *g = open_started("{cycles:u,instructions:u}", TARE_USER_READS);

	need_user_reads(g);
	for (size_t i = exact() ? 0 : 1; i < 2; i++) {
		uint64_t cost = around(g, i);

		CHECK(cost > 0 && cost < 300, "a window costs %llu", (unsigned long long)cost);
		for (uint64_t rounds = 1; rounds <= 1000000; rounds *= 10)
			for (int again = 0; again < 10; again++)
				CHECK_NEAR(window(g, i, rounds), 2 * rounds + cost);
	}
	tare_group_close(g);
}

TEST(as_the_kernel_reads)
{
	need_pmu();

	struct tare_group *g = open_started("{cycles:u,instructions:u}", TARE_USER_READS);
	struct tare_reading r[2], stopped[2];

	need_user_reads(g);
	loop(1000000);
	CHECK_EQ(tare_group_read(g, r, NULL), 0, "while it counts");
	CHECK_EQ(tare_group_stop(g, NULL), 0, "stop");
	CHECK(!tare_group_user_reads(g, NULL), "a stopped counter is in no register");
	CHECK_EQ(tare_group_read(g, stopped, NULL), 0, "by read(2)");
	for (int i = 0; i < 2; i++) {
		CHECK(stopped[i].raw > r[i].raw && stopped[i].raw < r[i].raw + 20000,
		      "event %d: %llu from user space, then %llu", i, (unsigned long long)r[i].raw,
		      (unsigned long long)stopped[i].raw);
		CHECK_EQ(r[i].quality, TARE_COUNTED, "%s", tare_quality_name(r[i].quality));
		CHECK(r[i].running_ns == r[i].enabled_ns &&
			      r[i].enabled_ns <= stopped[i].enabled_ns,
		      "times: %llu of %llu, then %llu", (unsigned long long)r[i].running_ns,
		      (unsigned long long)r[i].enabled_ns,
		      (unsigned long long)stopped[i].enabled_ns);
		CHECK_EQ(count(g, i), stopped[i].raw, "falls back to read(2)");
	}
	tare_group_close(g);
}

/* Instructions from one read to the next: the cost of a read, counted by the read itself. */
TEST(cost)
{
	need_pmu();
	if (!exact())
		tap_skip("exact_pmu", "a cost in instructions is counted where counts are exact");

	struct tare_group *g = open_started("instructions:u", TARE_USER_READS);
	uint64_t a, b, c;

	need_user_reads(g);
	a = b = c = 0;
	for (int i = 0; i < 3; i++) {
		tare_group_count(g, 0, &a, NULL);
		tare_group_count(g, 0, &b, NULL);
		tare_group_count(g, 0, &c, NULL);
	}
	printf("# tare_group_count: %llu instructions from read to read, call and all\n",
	       (unsigned long long)(c - b));
	CHECK_EQ(c - b, b - a, "not the same twice");
	CHECK(c - b <= 70, "%llu", (unsigned long long)(c - b));
	tare_group_close(g);
}

/* Where cycles are instructions, `cycles:u` counts the cost of its own pinned read. */
TEST(cost_pinned)
{
	static const struct {
		const char *text;
		uint32_t n;
	} rows[] = { { "cycles:u", 1 },
		     { "cycles:u,instructions:u", 2 },
		     { "cycles:u,instructions:u,instructions", 3 } };

	need_pmu();
	if (!exact())
		tap_skip("exact_pmu", "a cost in instructions is counted where counts are exact");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct tare_events *list = events(rows[i].text);
		struct tare_pinned *p = tare_pinned_open(list, &err);
		uint64_t a[3], b[3], c[3];
		int ret = 0;

		tare_events_free(list);
		/* On most Arm models instructions are counted in 32 bits: they cannot be pinned. */
		if (!p && i > 0 && err.code == EOPNOTSUPP && strstr(err.what, "bits")) {
			printf("# %s: %s\n", rows[i].text, err.what);
			continue;
		}
		if (!CHECK(p, "%s: %s", rows[i].text, err.what))
			continue;
		for (int again = 0; again < 3; again++) {
			switch (rows[i].n) {
			case 1:
				ret |= tare_pinned_read(p, a, 1);
				ret |= tare_pinned_read(p, b, 1);
				ret |= tare_pinned_read(p, c, 1);
				break;
			case 2:
				ret |= tare_pinned_read(p, a, 2);
				ret |= tare_pinned_read(p, b, 2);
				ret |= tare_pinned_read(p, c, 2);
				break;
			default:
				ret |= tare_pinned_read(p, a, 3);
				ret |= tare_pinned_read(p, b, 3);
				ret |= tare_pinned_read(p, c, 3);
			}
		}

		uint64_t cost = tare_pinned_difference(p, b[0], c[0]);

		CHECK_EQ(ret, 0, "read");
		printf("# pinned %s: %llu instructions from read to read\n", rows[i].text,
		       (unsigned long long)cost);
		/* One more if the compiler sums up `ret`. */
		CHECK(cost <= PINNED_MOST + PINNED_FURTHER * (rows[i].n - 1) + 1, "%s: %llu",
		      rows[i].text, (unsigned long long)cost);
		tare_pinned_close(p);
	}
}

static __attribute__((noinline)) uint64_t long_window(struct tare_group *g, uint64_t rounds)
{
	uint64_t before = count(g, 0);

	long_loop(rounds);
	return count(g, 0) - before;
}

/* A 32-bit counter starts half full and wraps after 2^31; the count continues. */
TEST(past_the_wrap)
{
	need_pmu();
	if (!exact())
		tap_skip("exact_pmu",
			 "2.4e9 instructions are counted to the last one where counts are exact");

	struct tare_group *g = open_started("instructions:u", TARE_USER_READS);

	need_user_reads(g);

	const uint64_t rounds = 6000000;
	uint64_t cost = long_window(g, 1) - LONG_ROUND;

	cost = long_window(g, 1) - LONG_ROUND; /* everything is in memory by now */
	CHECK_EQ(long_window(g, rounds), rounds * LONG_ROUND + cost, "in one go");
	CHECK(tare_group_user_reads(g, NULL), "no longer from user space");
	tare_group_close(g);
}

TEST(switched_off)
{
	struct tare_error err = TARE_ERROR_INIT;

	need_pmu();
	set_user_access("0");

	struct tare_events *list = events("cycles:u");
	struct tare_group *g = open_started("cycles:u", TARE_USER_READS);
	uint64_t cost = around(g, 0);

	CHECK(!tare_group_user_reads(g, &err), "reads from user space though switched off");
	CHECK(err.what[0] && strstr(err.hint, "perf_user_access"), "%s; %s", err.what, err.hint);
	CHECK_EQ(window(g, 0, 1000000), 2000000 + cost, "by read(2)");
	CHECK(!tare_pinned_open(list, &err) && err.code == EOPNOTSUPP, "pinned: %d %s", err.code,
	      err.what);
	CHECK(strstr(err.hint, "perf_user_access"), "%s", err.hint);
	tare_events_free(list);
	tare_group_close(g);
	set_user_access("1");
}

static __attribute__((noinline)) uint64_t pinned_window(struct tare_pinned *p, uint64_t rounds)
{
	uint64_t before = 0, after = 0;

	CHECK_EQ(tare_pinned_read(p, &before, 1), 0, "pinned");
	loop(rounds);
	CHECK_EQ(tare_pinned_read(p, &after, 1), 0, "pinned");
	return tare_pinned_difference(p, before, after);
}

static void *count_alone(void *arg)
{
	uint64_t rounds = (uintptr_t)arg;
	struct tare_group *g = open_started("cycles:u", TARE_USER_READS);
	struct tare_events *list = events("cycles:u");
	struct tare_pinned *p = tare_pinned_open(list, NULL);
	uint64_t cost = around(g, 0);

	CHECK_EQ(window(g, 0, rounds), 2 * rounds + cost, "a thread's own");
	if (CHECK(p, "pinned")) {
		pinned_window(p, 1);
		cost = pinned_window(p, 1) - 2;

		/*
		 * If the thread left the CPU, a read looks up its registers again, and these
		 * instructions are counted.
		 */
		uint64_t over = pinned_window(p, rounds) - (2 * rounds + cost);

		CHECK(over <= 150, "pinned, a thread's own: off by %lld", (long long)over);
	}
	tare_pinned_close(p);
	tare_events_free(list);
	tare_group_close(g);
	return NULL;
}

/* Four threads on one CPU, each with counters of its own, scheduled alternately. */
TEST(every_thread_its_own)
{
	pthread_t thread[4];

	need_pmu();
	if (!exact())
		tap_skip("exact_pmu", "cycles are instructions only where counts are exact");
	for (uintptr_t i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, count_alone, (void *)((i + 1) * 3000000)),
			 0, "thread");
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

/*
 * More events than counters: a bare count would cover part of the time, so there is none; a reading
 * reports it.
 */
TEST(too_many)
{
	enum { GROUPS = 12 };
	struct tare_group *g[GROUPS];
	int declined = 0;

	need_pmu();
	if (!exact())
		tap_skip("exact_pmu", "how many counters this PMU has is not known to the test");
	for (int i = 0; i < GROUPS; i++)
		g[i] = open_started("instructions:u", TARE_USER_READS);
	long_loop(250000);
	for (int i = 0; i < GROUPS; i++) {
		struct tare_reading r;
		uint64_t n;

		declined += tare_group_count(g[i], 0, &n, NULL) == -ENODATA;
		CHECK_EQ(tare_group_read(g[i], &r, NULL), 0, "group %d", i);
		CHECK_EQ(r.quality, TARE_SCALED, "group %d: %s", i, tare_quality_name(r.quality));

		double off = (double)tare_reading_scaled(&r) / 100e6;

		CHECK(off > 0.95 && off < 1.05, "group %d: %.4f of the truth", i, off);
	}
	CHECK_EQ(declined, GROUPS, "bare counts of a share");
	for (int i = 0; i < GROUPS; i++)
		tare_group_close(g[i]);
}

/* Seven instruction events open as a group on six counters, and never count. */
TEST(a_group_that_never_counts)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_reading r[7];

	need_pmu();
	if (!exact())
		tap_skip("exact_pmu", "how many counters this PMU has is not known to the test");

	struct tare_group *g = open_started(
		"instructions:u,instructions:u,instructions:u,instructions:u,"
		"instructions:u,instructions:u,instructions:u",
		0);

	loop(1000000);
	CHECK_EQ(tare_group_read(g, r, &err), -ENODATA, "%s", err.what);
	for (int i = 0; i < 7; i++)
		CHECK_EQ(r[i].quality, TARE_UNAVAILABLE, "event %d", i);
	CHECK(err.what[0] && err.hint[0], "no reason or no hint");
	tare_group_close(g);
}

TEST_MAIN()
