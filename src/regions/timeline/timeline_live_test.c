/* SPDX-License-Identifier: MIT */
/*
 * Read a recording many times while it is written: all points that each thread had written before
 * are there, and none are reported as lost.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "regions/timeline/timeline.h"
#include "tap.h"
#include "tare/region.h"

enum {
	LANES = 3,
	TURNS = 20, /* of a lane: threads, one after another; some fill their block */
	FORKS = 3,
	FEW = 1500,
	MANY = 40000,
	THREADS = LANES * (TURNS + FORKS) + 1,
	WAIT_US = 50,
};

TARE_REGION(part, "part");
static char path[64];

/*
 * The number of points written, counted by the writer: thread w3 counts in [3]. A child's count is
 * known when it has ended.
 */
static struct shared {
	uint64_t points[THREADS];
	uint32_t go_on; /* while it is 0, the last thread waits with an open region */
} * shared;

static void wrote(unsigned k)
{
	__atomic_fetch_add(&shared->points[k], 1, __ATOMIC_RELEASE);
}

static void call_it(unsigned k)
{
	char name[16];

	snprintf(name, sizeof(name), "w%u", k);
	prctl(PR_SET_NAME, name);
}

/* New labels are created all the time. */
static void work(unsigned k, unsigned points)
{
	for (unsigned i = 0; i < points; i += 2) {
		char number[24];
		const char *args[] = { number };
		tare_label query;

		if (i % 500 == 0) {
			snprintf(number, sizeof(number), "%u.%u", k, i);
			query = tare_label_new("query", args, 1);
			tare_label_begin(query);
			wrote(k);
			tare_label_end(query);
			wrote(k);
			usleep(WAIT_US);
			continue;
		}
		tare_region_begin(&part);
		wrote(k);
		tare_region_end(&part);
		wrote(k);
	}
}

static void *thread(void *number)
{
	unsigned k = (unsigned)(uintptr_t)number;

	call_it(k);
	work(k, k % 10 ? FEW : MANY);
	return NULL;
}

static void *lane(void *number)
{
	unsigned k = (unsigned)(uintptr_t)number * (TURNS + FORKS);

	for (unsigned i = 0; i < TURNS + FORKS; i++, k++) {
		pthread_t t;
		pid_t child;

		if (i < TURNS) {
			CHECK_EQ(pthread_create(&t, NULL, thread, (void *)(uintptr_t)k), 0);
			pthread_join(t, NULL);
			continue;
		}
		child = fork();
		if (child == 0) {
			call_it(k);
			work(k, 10 * FEW);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	return NULL;
}

static void record(void)
{
	struct tare_error err = TARE_ERROR_INIT;
	pthread_t t[LANES];

	CHECK_EQ(tare_regions_start(path, "wall-time", &err), 0, "%s", err.what);
	for (uintptr_t i = 0; i < LANES; i++)
		CHECK_EQ(pthread_create(&t[i], NULL, lane, (void *)i), 0);
	for (int i = 0; i < LANES; i++)
		pthread_join(t[i], NULL);
	call_it(THREADS - 1);
	tare_region_begin(&part);
	wrote(THREADS - 1);
	while (!__atomic_load_n(&shared->go_on, __ATOMIC_ACQUIRE))
		usleep(WAIT_US);
	tare_region_end(&part);
	wrote(THREADS - 1);
	CHECK_EQ(tare_regions_stop(&err), 0, "%s", err.what);
}

/* The thread's points in the file. Each must have a known label. */
static uint64_t points_of(struct timeline *t, size_t i)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline_point p;
	struct cursor *c;
	uint64_t n = 0;

	CHECK_EQ(timeline_thread(t, i, &c, &err), 0, "%s", err.what);
	while (cursor_next(c, &p, &err) == 1) {
		const struct timeline_label *l = p.kind == TIMELINE_LOST
			? NULL
			: timeline_label(t, p.label);

		CHECK(l && (!strcmp(l->name, "part") || !strcmp(l->name, "query")), "%s",
		      l ? l->name : "points are lost");
		n += !p.put_in;
	}
	cursor_close(c);
	return n;
}

enum when { GOING_ON, KILLED, ENDED };

/*
 * Read at any moment. writer: its process; points: read them, too. Returns the number of threads
 * that continue.
 */
static size_t look(enum when when, pid_t writer, bool points)
{
	struct tare_error err = TARE_ERROR_INIT;
	uint64_t before[THREADS], after;
	bool seen[THREADS] = { 0 };
	const struct timeline_info *info;
	struct timeline *t;
	size_t go_on = 0;

	for (size_t k = 0; k < THREADS; k++)
		before[k] = __atomic_load_n(&shared->points[k], __ATOMIC_ACQUIRE);
	CHECK_EQ(timeline_open(&t, path, &err), 0, "%s", err.what);
	info = timeline_info(t);
	CHECK(!info->damage && !info->lost && !info->lost_unknown, "%s", info->damage);
	for (size_t i = 0; i < info->n_threads; i++) {
		const struct timeline_thread *of = &info->thread[i];
		uint64_t shown = points ? points_of(t, i) : of->points;
		unsigned k = (unsigned)atoi(of->name + 1);

		CHECK_EQ(of->points, shown, "as the heads say");
		CHECK_EQ(of->lost, 0);
		CHECK(of->name[0] == 'w' && k < THREADS && !seen[k], "%s", of->name);
		seen[k] = true;
		after = __atomic_load_n(&shared->points[k], __ATOMIC_ACQUIRE);
		/* A point is written before it is counted. */
		CHECK(before[k] <= shown && shown <= after + 1, "%s: %llu of %llu, and then %llu",
		      of->name, (unsigned long long)shown, (unsigned long long)before[k],
		      (unsigned long long)after);
		if (of->pid != (uint64_t)writer)
			continue;
		CHECK(of->complete || when != ENDED, "%s", of->name);
		CHECK(of->complete || of->goes_on || of->end_unknown || when == KILLED, "%s",
		      of->name);
		CHECK(!(of->complete && (of->goes_on || of->end_unknown)), "%s", of->name);
		go_on += of->goes_on;
	}
	for (size_t k = 0; k < THREADS; k++)
		CHECK(seen[k] || !before[k], "w%zu, with %llu points", k,
		      (unsigned long long)before[k]);
	CHECK(!go_on || info->live, "and it says so");
	CHECK(when == GOING_ON || !info->live, "%s", info->live);
	timeline_close(t);
	return go_on;
}

/*
 * Waits until the last thread waits. Then the number of continuing threads is known, and it is 0
 * after the writer is killed or ends.
 */
static void looks(enum when at_end)
{
	unsigned n = 0;
	pid_t writer;
	int status;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	snprintf(path, sizeof(path), "live-test-%d.tare", (int)getpid());
	writer = fork();
	if (writer == 0) {
		record();
		_exit(tap_failures > 0);
	}
	while (access(path, F_OK) < 0)
		usleep(WAIT_US);
	while (!__atomic_load_n(&shared->points[THREADS - 1], __ATOMIC_ACQUIRE) &&
	       waitpid(writer, &status, WNOHANG) == 0)
		look(GOING_ON, writer, n++ % 4 == 0);
	CHECK_EQ(look(GOING_ON, writer, true), 1, "it waits");
	if (at_end == KILLED)
		kill(writer, SIGKILL);
	__atomic_store_n(&shared->go_on, 1, __ATOMIC_RELEASE);
	waitpid(writer, &status, 0);
	CHECK_EQ(status, at_end == KILLED ? SIGKILL : 0);
	CHECK_EQ(look(at_end, writer, true), 0, "it came to its end");
	unlink(path);
}

TEST(one_that_is_being_written)
{
	looks(ENDED);
}

TEST(one_whose_program_is_killed)
{
	looks(KILLED);
}

TEST_MAIN()
