/* SPDX-License-Identifier: MIT */
/* The perf source on a real PMU: groups, other threads, exec, forks, too many events, no leaks. */
#include <dirent.h>
#include <pthread.h>
#include "pmu.h"

static const struct target self = { .cpu = -1, .cgroup_fd = -1 };

static struct counters *open_group(const struct encoding *const *enc, size_t n,
				   const struct target *on)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct counters *c = NULL;

	if (!CHECK(source_perf.open(&c, enc, n, on, NULL, &err) == 0, "%s", err.what))
		_exit(TAP_FAILED);
	return c;
}

static void start(struct counters *c)
{
	struct tare_error err = TARE_ERROR_INIT;

	CHECK(source_perf.start(c, &err) == 0, "%s", err.what);
}

static void stop(struct counters *c)
{
	struct tare_error err = TARE_ERROR_INIT;

	CHECK(source_perf.stop(c, &err) == 0, "%s", err.what);
}

static void read_group(struct counters *c, struct tare_reading *out)
{
	struct tare_error err = TARE_ERROR_INIT;

	CHECK(source_perf.read(c, out, &err) == 0, "%s", err.what);
}

/* Instructions between start and stop around a loop, minus those of the loop itself. */
static int64_t excess(struct counters *c, uint64_t rounds)
{
	struct tare_reading before, after;

	read_group(c, &before);
	start(c);
	loop(rounds);
	stop(c);
	read_group(c, &after);
	return (int64_t)(after.raw - before.raw - 2 * rounds);
}

/* Starting and stopping cost the same few instructions, whatever is in between. */
TEST(loops)
{
	need_pmu();

	const struct encoding *const enc[] = { &instructions };
	struct counters *c = open_group(enc, 1, &self);
	int64_t first = (excess(c, 1), excess(c, 1));

	CHECK(first > 0 && first < 500, "start and stop cost %lld instructions", (long long)first);
	for (uint64_t rounds = 1; rounds <= 10000000; rounds *= 10)
		CHECK_NEAR(excess(c, rounds) + 2 * rounds, first + 2 * rounds);
	source_perf.close(c);
}

/*
 * Both events of a group count over the same time; where a cycle is an instruction, the same
 * number.
 */
TEST(group)
{
	need_pmu();

	const struct encoding *const enc[] = { &cycles, &instructions };
	struct counters *c = open_group(enc, 2, &self);
	struct tare_reading r[2], again[2];

	start(c);
	loop(1000000);
	stop(c);
	read_group(c, r);
	CHECK(r[1].raw > 2000000 && r[1].raw < 2000500 + slack(2000000), "instructions %llu",
	      (unsigned long long)r[1].raw);
	CHECK(r[0].raw > 0, "no cycles");
	if (exact())
		CHECK_EQ(r[0].raw, r[1].raw, "cycles and instructions");
	CHECK_EQ(r[0].enabled_ns, r[1].enabled_ns, "one time for all");
	CHECK_EQ(r[0].enabled_ns, r[0].running_ns, "never off the PMU");
	CHECK_EQ(r[1].quality, TARE_COUNTED, "%s", tare_quality_name(r[1].quality));
	read_group(c, again);
	CHECK_EQ(again[1].raw, r[1].raw, "stopped, yet it counts");
	source_perf.close(c);
}

static struct {
	pthread_barrier_t ready, go;
	pid_t tid;
} worker;

static void *work(void *rounds)
{
	worker.tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&worker.ready);
	pthread_barrier_wait(&worker.go);
	loop((uintptr_t)rounds);
	return NULL;
}

static int64_t count_thread(uintptr_t rounds)
{
	const struct encoding *const enc[] = { &instructions };
	struct tare_reading r;
	pthread_t thread;

	pthread_barrier_init(&worker.ready, NULL, 2);
	pthread_barrier_init(&worker.go, NULL, 2);
	CHECK_EQ(pthread_create(&thread, NULL, work, (void *)rounds), 0, "thread");
	pthread_barrier_wait(&worker.ready);

	struct target on = self;

	on.pid = worker.tid;

	struct counters *c = open_group(enc, 1, &on);

	start(c);
	pthread_barrier_wait(&worker.go);
	loop(3000000); /* must not be counted */
	pthread_join(thread, NULL);
	read_group(c, &r);
	source_perf.close(c);
	return (int64_t)r.raw - (int64_t)(2 * rounds);
}

/*
 * Another thread is counted alone: the code before and after its loop is about a hundred
 * instructions.
 */
TEST(another_thread)
{
	need_pmu();
	for (uintptr_t rounds = 1000; rounds <= 1000000; rounds *= 10) {
		int64_t more = count_thread(rounds);

		CHECK(more >= -slack(2 * rounds) && more < 5000,
		      "%lld in addition to the loop of %llu", (long long)more,
		      (unsigned long long)rounds);
	}
}

static uint64_t count_family(bool inherit)
{
	const struct encoding *const enc[] = { &instructions };
	struct target on = self;
	struct tare_reading r;

	on.inherit = inherit;

	struct counters *c = open_group(enc, 1, &on);

	start(c);
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			loop(1000000);
			_exit(0);
		}
		CHECK(waitpid(pid, NULL, 0) == pid, "fork");
	}
	stop(c);
	read_group(c, &r);
	source_perf.close(c);
	return r.raw;
}

TEST(children)
{
	need_pmu();

	uint64_t with = count_family(true), without = count_family(false);

	CHECK(with > 6000000 && with < 6000000 + 30000, "%llu with children",
	      (unsigned long long)with);
	CHECK(without > 0 && without < 20000, "%llu without", (unsigned long long)without);
}

/* Counting starts with the first instruction of the program that the child executes. */
TEST(from_exec_on)
{
	static const struct {
		const char *program;
		uint64_t rounds;
	} rows[] = { { "loop-1", 1 }, { "loop-1000", 1000 }, { "loop-1000000", 1000000 } };
	const struct encoding *const enc[] = { &instructions };

	need_pmu();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct target on = self;
		struct tare_reading r;
		int hold[2], status;

		CHECK(pipe(hold) == 0, "pipe");
		on.pid = fork();
		if (on.pid == 0) {
			char path[512], byte;
			const char *dir = getenv("TARE_PROGRAMS");

			close(hold[1]);
			snprintf(path, sizeof(path), "%s/%s", dir ? dir : "/bin", rows[i].program);
			if (read(hold[0], &byte, 1) == 0)
				execl(path, rows[i].program, (char *)NULL);
			_exit(127);
		}
		on.enable_on_exec = true;

		struct counters *c = open_group(enc, 1, &on);

		close(hold[0]);
		close(hold[1]);
		CHECK(waitpid(on.pid, &status, 0) == on.pid && status == 0, "%s: status %#x",
		      rows[i].program, status);
		read_group(c, &r);
		CHECK_NEAR(r.raw, 2 * rows[i].rounds + LOOP_PROGRAM_AROUND);
		source_perf.close(c);
	}
}

/* More events than counters are multiplexed, and reported as such. */
TEST(too_many)
{
	enum { EVENTS = 12 };
	const struct encoding *const enc[] = { &instructions };
	struct counters *c[EVENTS];

	need_pmu();
	if (!exact())
		tap_skip("exact_pmu", "how many counters this PMU has is not known to the test");
	for (int i = 0; i < EVENTS; i++)
		c[i] = open_group(enc, 1, &self);
	for (int i = 0; i < EVENTS; i++)
		start(c[i]);
	long_loop(250000);
	for (int i = 0; i < EVENTS; i++) {
		struct tare_reading r;

		read_group(c[i], &r);
		CHECK_EQ(r.quality, TARE_SCALED, "%s", tare_quality_name(r.quality));
		CHECK(r.running_ns < r.enabled_ns, "share");

		/*
		 * One instruction per nanosecond: only the ends of a 4 ms time slice are inexact.
		 */
		double off = (double)tare_reading_scaled(&r) / 100e6;

		CHECK(off > 0.95 && off < 1.05, "event %d: %.4f of the truth", i, off);
		source_perf.close(c[i]);
	}
}

/* Seven events open as one group on six counters and never run: no number, but a reason. */
TEST(a_group_that_never_counts)
{
	const struct encoding *const enc[] = { &instructions, &instructions, &instructions,
					       &instructions, &instructions, &instructions,
					       &instructions };
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_reading r[ARRAY_SIZE(enc)];

	need_pmu();
	if (!exact())
		tap_skip("exact_pmu", "how many counters this PMU has is not known to the test");

	struct counters *c = open_group(enc, ARRAY_SIZE(enc), &self);

	start(c);
	loop(1000000);
	stop(c);
	CHECK_EQ(source_perf.read(c, r, &err), 0, "%s", err.what);
	for (size_t i = 0; i < ARRAY_SIZE(enc); i++)
		CHECK_EQ(r[i].quality, TARE_UNAVAILABLE, "event %zu", i);
	CHECK_EQ(err.code, ENODATA, "code");
	CHECK(err.what[0] && err.hint[0], "no reason or no hint");
	source_perf.close(c);
}

static int entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static int lines(const char *path)
{
	FILE *f = fopen(path, "r");
	int n = 0, c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

TEST(ten_thousand_groups_leak_nothing)
{
	const struct encoding *const enc[] = { &cycles, &instructions };
	struct tare_reading r[2];
	int fds = 0, maps = 0;
	void *brk = NULL;

	need_pmu();
	for (int i = 0; i < 10000; i++) {
		struct target on = self;

		on.user_reads = i % 2;

		struct counters *c = open_group(enc, 2, &on);

		if (i == 101) {
			fds = entries("/proc/self/fd");
			maps = lines("/proc/self/maps");
			brk = sbrk(0);
		}
		if (i % 100 == 0) {
			start(c);
			loop(1000);
			stop(c);
			read_group(c, r);
			CHECK(r[1].raw > 2000, "round %d: %llu", i, (unsigned long long)r[1].raw);
		}
		if (i == 9999) {
			CHECK_EQ(entries("/proc/self/fd"), fds, "descriptors");
			CHECK_EQ(lines("/proc/self/maps"), maps, "mappings");
			CHECK(sbrk(0) == brk, "the heap grew");
		}
		source_perf.close(c);
	}
}

TEST_MAIN()
