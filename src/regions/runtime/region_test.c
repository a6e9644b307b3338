/* SPDX-License-Identifier: MIT */
/* Record regions in this process and read them back. Each test runs in its own process. */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include "base/text.h"
#include "recording/region_format.h"
#include "regions/timeline/timeline.h"
#include "tap.h"
#include "tare/region.h"

TARE_REGION(outer, "outer");
TARE_REGION(inner, "inner");
TARE_REGION(third, "third");

static char path[128];

static void start(const char *counters)
{
	struct tare_error err = TARE_ERROR_INIT;

	snprintf(path, sizeof(path), "region-test-%d.tare", (int)getpid());
	CHECK_EQ(tare_regions_start(path, counters, &err), 0, "%s", err.what);
}

static void stop(void)
{
	struct tare_error err = TARE_ERROR_INIT;

	CHECK_EQ(tare_regions_stop(&err), 0, "%s", err.what);
}

/* A thread's points in words: "outer( inner( inner) outer)"; repaired ones with '!'. */
static void words_of(struct timeline *t, size_t thread, struct text *out)
{
	static const char marks[] = { '(', ')', '.', '=', '<', '>', '?' };
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline_point p;
	struct cursor *c = NULL;
	uint64_t last = 0, points = 0;
	int ret;

	CHECK_EQ(timeline_thread(t, thread, &c, &err), 0, "%s", err.what);
	while ((ret = cursor_next(c, &p, &err)) == 1) {
		const struct timeline_label *l = p.kind == TIMELINE_LOST
			? NULL
			: timeline_label(t, p.label);

		text_add(out, "%s%s", out->len ? " " : "", l ? l->name : "");
		for (const char *const *a = l ? l->arg : NULL; a && *a; a++)
			text_add(out, ",%s", *a);
		text_add(out, "%c%s", marks[p.kind], p.repaired ? "!" : "");
		if (p.kind == TIMELINE_INTEGER || p.kind == TIMELINE_LOST)
			text_add(out, "%llu", (unsigned long long)p.number);
		if (timeline_info(t)->n_counters) {
			CHECK(p.value[0] >= last, "%llu before %llu",
			      (unsigned long long)p.value[0], (unsigned long long)last);
			last = p.value[0];
		}
		CHECK_EQ(p.missing, 0);
		points += p.kind != TIMELINE_LOST && !p.repaired;
	}
	CHECK_EQ(ret, 0, "%s", err.what);
	CHECK_EQ(timeline_info(t)->thread[thread].points, points, "as in the heads of the blocks");
	cursor_close(c);
}

static struct timeline *reopen(void)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline *t = NULL;

	CHECK_EQ(timeline_open(&t, path, &err), 0, "%s", err.what);
	if (!t)
		exit(1);
	return t;
}

static void expect_thread(struct timeline *t, size_t thread, const char *words)
{
	struct text got = { 0 };

	words_of(t, thread, &got);
	CHECK_STR(got.s ? got.s : "", words);
	text_free(&got);
}

TEST(no_error_after_success)
{
	static const struct tare_error stale = {
		.code = EIO, .at = 3, .what = "an earlier error", .hint = "of another call"
	};
	struct tare_error err = stale;
	char path[] = "/tmp/tare-no-error-XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0 && close(fd) == 0, "a file");
	CHECK_EQ(tare_regions_start(path, "none", &err), 0, "%s", err.what);
	CHECK(err.code == 0 && !err.what[0] && !err.hint[0] && err.at == -1, "start: %d, %s",
	      err.code, err.what);
	err = stale;
	CHECK(tare_regions_from_environment(&err) >= 0, "%s", err.what);
	CHECK_EQ(err.code, 0);
	err = stale;
	CHECK_EQ(tare_regions_stop(&err), 0, "%s", err.what);
	CHECK_EQ(err.code, 0);
	unlink(path);
}

TEST(off_does_nothing)
{
	tare_region_begin(&outer);
	tare_region_end(&outer);
	CHECK_EQ(outer.label, 0);
	CHECK_EQ(tare_label_new("x", NULL, 0), 0);
	CHECK_EQ(tare_region_thread.place.at, 0);
	CHECK_EQ(tare_regions_generation() & 1, 0);
	CHECK_EQ(tare_regions_stop(NULL), 0);
}

static void scoped(int depth)
{
	TARE_REGION_SCOPE(&outer);

	if (depth)
		scoped(depth - 1);
}

TEST(nested_recursive_and_scoped)
{
	struct timeline *t;
	const struct timeline_info *info;

	start(NULL);
	tare_region_begin(&outer);
	tare_region_begin(&inner);
	tare_region_end(&inner);
	tare_region_end(&outer);
	scoped(2);
	stop();
	tare_region_begin(&third); /* after the end of the recording */
	t = reopen();
	info = timeline_info(t);
	CHECK_STR(info->format, "tare 2");
	CHECK_EQ(info->damage == NULL, 1, "%s", info->damage);
	CHECK_EQ(info->n_counters, 1);
	CHECK_STR(info->counter[0].name, "wall-time");
	CHECK_STR(info->counter[0].unit, "ns");
	CHECK(info->counter[0].own[0].known && info->counter[0].own[TIMELINE_PATHS / 2].known);
	CHECK(info->counter[0].own[0].inside + info->counter[0].own[0].outside > 0 &&
	      info->counter[0].own[0].inside < 100000);
	CHECK(info->counter[0].own[0].inside_off > 0, "a clock has its ticks");
	CHECK(!info->counter[0].own[TARE_PATH_PYTHON].known);
	CHECK_EQ(info->time, 0);
	CHECK_EQ(info->n_threads, 1);
	CHECK_EQ(info->thread[0].complete, 1);
	CHECK_EQ(info->thread[0].pid, getpid());
	expect_thread(t, 0,
		      "outer( inner( inner) outer) outer( outer( outer( outer) outer) outer)");
	timeline_close(t);
	unlink(path);
}

TEST(labels_with_arguments_instants_integers_timings)
{
	const char *args[] = { "typeck", "main" }, *other[] = { "typeck", "f" };
	struct tare_timing timing;
	tare_label a, b;
	struct timeline *t;

	start("none");
	a = tare_label_new("query", args, 2);
	b = tare_label_new("query", other, 2);
	CHECK(a && b && a != b);
	CHECK_EQ(tare_label_new("query", args, 2), a);
	tare_label_begin(a);
	{
		/* Two on one line are labels; the other is not. */
		TARE_LABEL_SCOPE(b);
		TARE_LABEL_SCOPE(0);
	}
	tare_label_instant(b);
	tare_label_integer(tare_region_label(&inner), 1234567890123456789ull);
	timing = tare_timing_start(a);
	tare_label_end(a);
	tare_timing_finish(timing);
	stop();
	t = reopen();
	expect_thread(
		t, 0,
		"query,typeck,main( query,typeck,f( query,typeck,f) query,typeck,f. inner=1234567890123456789 "
		"query,typeck,main< query,typeck,main) query,typeck,main>");
	CHECK_EQ(timeline_info(t)->n_counters, 0);
	for (uint32_t i = 0; i < timeline_info(t)->n_labels; i++) {
		const struct timeline_label *l = timeline_label(t, i),
					    *g = timeline_label(t, l->group);

		CHECK_STR(g->name, l->name);
		CHECK_EQ(g->arg[0] == NULL, 1);
		CHECK_EQ(g->group, l->group);
		if (!strcmp(l->name, "inner"))
			CHECK(l->file && strstr(l->file, "region_test.c") && l->line > 0);
	}
	timeline_close(t);
	unlink(path);
}

TEST(unbalanced_is_repaired_where_it_is)
{
	struct timeline *t;

	start("none");
	tare_region_begin(&outer);
	tare_region_begin(&inner);
	tare_region_end(&outer);
	tare_region_end(&third);
	tare_region_begin(&outer);
	stop();
	t = reopen();
	expect_thread(t, 0, "outer( inner( inner)! outer) third(! third) outer( outer)!");
	timeline_close(t);
	unlink(path);
}

/* Fill the block and continue. */
static void many(int n)
{
	for (int i = 0; i < n; i++) {
		tare_region_begin(&outer);
		tare_region_begin(&inner);
		tare_region_end(&inner);
		tare_region_end(&outer);
	}
}

static uint64_t count_points(struct timeline *t, size_t thread, uint64_t *lost)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline_point p;
	struct cursor *c = NULL;
	uint64_t n = 0;

	CHECK_EQ(timeline_thread(t, thread, &c, &err), 0, "%s", err.what);
	while (cursor_next(c, &p, &err) == 1) {
		if (p.kind == TIMELINE_LOST)
			*lost += p.number;
		else if (!p.repaired)
			n++;
	}
	cursor_close(c);
	return n;
}

enum { MANY = 50000 };

static void *many_in_thread(void *unused)
{
	many(tap_cases(MANY));
	return unused;
}

TEST(threads_that_come_and_go)
{
	pthread_t thread[8];
	struct timeline *t;
	uint64_t lost = 0;

	start(NULL);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 8; i++)
			pthread_create(&thread[i], NULL, many_in_thread, NULL);
		for (int i = 0; i < 8; i++)
			pthread_join(thread[i], NULL);
	}
	stop();
	t = reopen();
	CHECK_EQ(timeline_info(t)->damage == NULL, 1, "%s", timeline_info(t)->damage);
	CHECK_EQ(timeline_info(t)->n_threads, 24);
	for (size_t i = 0; i < timeline_info(t)->n_threads; i++) {
		CHECK_EQ(count_points(t, i, &lost), 4 * tap_cases(MANY));
		CHECK_EQ(timeline_info(t)->thread[i].complete, 1);
	}
	CHECK_EQ(lost, 0);
	timeline_close(t);
	unlink(path);
}

TEST(a_forked_child_goes_on)
{
	struct timeline *t;
	uint64_t lost = 0;
	pid_t child;

	start(NULL);
	many(10);
	tare_region_begin(&third);
	child = fork();
	if (!child) {
		tare_label own = tare_label_new("of the child", NULL, 0);

		many(MANY);
		tare_label_begin(own);
		tare_label_end(own);
		exit(0);
	}
	waitpid(child, NULL, 0);
	tare_label_instant(tare_label_new("of the parent", NULL, 0));
	tare_region_end(&third);
	stop();
	t = reopen();
	CHECK_EQ(timeline_info(t)->damage == NULL, 1, "%s", timeline_info(t)->damage);
	CHECK_EQ(timeline_info(t)->n_threads, 2);
	CHECK_EQ(timeline_info(t)->thread[1].pid, child);
	CHECK_EQ(count_points(t, 0, &lost), 43);
	CHECK_EQ(count_points(t, 1, &lost), 4 * MANY + 2);
	CHECK_EQ(timeline_info(t)->thread[1].complete, 1);
	timeline_close(t);
	unlink(path);
}

/* Like clone(2): creates a child without calling fork handlers. */
static pid_t raw_fork(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static void need_wiping(void)
{
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status = 1;
	pid_t child;

	/* an emulator may ignore it and return success */
	if (madvise(p, 4096, MADV_WIPEONFORK) == 0) {
		*p = 1;
		child = raw_fork();
		if (!child)
			_exit(*p);
		waitpid(child, &status, 0);
	}
	munmap(p, 4096);
	if (status)
		tap_skip("wipeonfork", "no MADV_WIPEONFORK here (Linux 4.14)");
}

static void *one_in_thread(void *unused)
{
	tare_region_begin(&third);
	tare_region_end(&third);
	return unused;
}

static void children_of_clone(const char *counters)
{
	struct timeline *t;
	uint64_t lost = 0;
	pid_t child, idle;
	int go[2], ready[2], status;
	pthread_t thread;
	char byte = 0;

	CHECK_EQ(pipe(go) | pipe(ready), 0);
	start(counters);
	many(10);
	tare_region_begin(&third);
	child = raw_fork();
	close(child ? ready[1] : go[1]); /* so that the other process sees the end of the pipe */
	if (!child) {
		CHECK_EQ(read(go[0], &byte, 1), 1);
		many(MANY);
		CHECK_EQ(write(ready[1], &byte, 1), 1);
		CHECK_EQ(read(go[0], &byte, 1), 1);
		many(MANY);
		/* Its own child, in which another thread records first. */
		child = raw_fork();
		if (!child) {
			pthread_create(&thread, NULL, one_in_thread, NULL);
			pthread_join(thread, NULL);
			many(2);
			tare_regions_stop(NULL);
			_exit(tap_failures ? 1 : 0);
		}
		waitpid(child, &status, 0);
		exit(tap_failures || status);
	}
	idle = raw_fork();
	if (!idle)
		exit(0); /* ends only its own recording, and there is none */
	waitpid(idle, NULL, 0);
	CHECK_EQ(write(go[1], &byte, 1), 1);
	many(MANY); /* in the meantime */
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	many(MANY);
	CHECK_EQ(write(go[1], &byte, 1), 1);
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
	tare_region_end(&third);
	stop();
	t = reopen();
	CHECK_EQ(timeline_info(t)->damage == NULL, 1, "%s", timeline_info(t)->damage);
	CHECK_EQ(timeline_info(t)->n_threads, 4);
	CHECK_EQ(count_points(t, 0, &lost), 4 * (2 * MANY + 10) + 2);
	CHECK_EQ(timeline_info(t)->thread[1].pid, child);
	CHECK_EQ(count_points(t, 1, &lost), 4 * 2 * MANY);
	expect_thread(t, 2, "third( third)");
	expect_thread(t, 3, "outer( inner( inner) outer) outer( inner( inner) outer)");
	CHECK_EQ(lost, 0);
	for (size_t i = 0; i < 4; i++)
		CHECK_EQ(timeline_info(t)->thread[i].complete, 1, "thread %zu", i);
	timeline_close(t);
	unlink(path);
}

TEST(children_of_clone_are_processes_of_their_own)
{
	need_wiping();
	children_of_clone("wall-time");
	children_of_clone("none");
}

/* Naming this region blocks the thread, which keeps its locks until it is released. */
static struct tare_region slow = { TARE_LABEL_UNKNOWN, 1, NULL, __FILE__ };
static int stopped[2], let_go[2];

static void stop_at_name(int sig)
{
	char byte = 0;

	(void)sig;
	if (write(stopped[1], &byte, 1) != 1 || read(let_go[0], &byte, 1) != 1)
		abort();
	mprotect((void *)(uintptr_t)slow.name, 4096, PROT_READ | PROT_WRITE);
}

static void *begin_slow(void *unused)
{
	tare_region_begin(&slow);
	tare_region_end(&slow);
	return unused;
}

static void *start_anew(void *unused)
{
	start("none");
	return unused;
}

/* Start that thread. Returns true when it is blocked. */
static bool stopped_at_name(pthread_t *thread, void *(*what)(void *))
{
	char byte;

	mprotect((void *)(uintptr_t)slow.name, 4096, PROT_NONE);
	return pthread_create(thread, NULL, what, NULL) == 0 && read(stopped[0], &byte, 1) == 1;
}

static void let_it_go(pthread_t thread)
{
	CHECK_EQ(write(let_go[1], "", 1), 1);
	pthread_join(thread, NULL);
}

static void prepare_slow(void)
{
	struct sigaction stop_there = { .sa_handler = stop_at_name };
	char *name = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need_wiping();
	if (TAP_THREAD_SANITIZER)
		tap_skip("raw fork",
			 "the thread sanitizer takes the parent's threads for the child's");
	strcpy(name, "slow");
	slow.name = name;
	sigaction(SIGSEGV, &stop_there, NULL);
	CHECK_EQ(pipe(stopped) | pipe(let_go), 0);
}

/* Regions with a label, new ones, and a child's. */
static void points_of_a_child(void)
{
	int status;
	pid_t child;

	many(1);
	tare_region_begin(&third);
	tare_region_end(&third);
	child = raw_fork();
	if (!child) {
		tare_label own = tare_label_new("own", NULL, 0);

		many(1);
		tare_label_instant(own);
		tare_regions_stop(NULL);
		_exit(0);
	}
	waitpid(child, &status, 0);
	tare_regions_stop(NULL);
	_exit(status != 0);
}

/*
 * Fork a child while another thread names a region. The child runs the function and must exit with
 * 0; then the thread continues.
 */
static pid_t child_while_naming(void (*run)(void))
{
	pthread_t thread;
	pid_t child;
	int status = 1;

	prepare_slow();
	start("none");
	many(1);
	CHECK(stopped_at_name(&thread, begin_slow));
	child = raw_fork();
	if (!child)
		run();
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
	let_it_go(thread);
	return child;
}

TEST(children_of_clone_while_a_thread_names_a_region)
{
	pid_t child = child_while_naming(points_of_a_child);
	struct timeline *t;

	/* has the number that the child uses for another label, or vice versa */
	tare_region_begin(&third);
	tare_region_end(&third);
	stop();
	t = reopen();
	CHECK_EQ(timeline_info(t)->damage == NULL, 1, "%s", timeline_info(t)->damage);
	CHECK_EQ(timeline_info(t)->n_threads, 4);
	expect_thread(t, 0, "outer( inner( inner) outer) third( third)");
	for (size_t i = 1; i < timeline_info(t)->n_threads; i++) {
		pid_t of = (pid_t)timeline_info(t)->thread[i].pid;

		expect_thread(t, i,
			      of == getpid()        ? "slow( slow)"
				      : of == child ? "outer( inner( inner) outer) third( third)"
						    : "outer( inner( inner) outer) own.");
	}
	timeline_close(t);
	unlink(path);
}

/* Its first operation waits for the lock. */
static void forks(void)
{
	pid_t child = fork();
	int status = 1;

	if (!child)
		exit(0);
	waitpid(child, &status, 0);
	_exit(status != 0);
}

TEST(children_of_clone_that_fork_while_a_thread_names_a_region)
{
	child_while_naming(forks);
	stop();
	unlink(path);
}

/*
 * Here labels belong to two recordings, and the child cannot distinguish them. So the losses of the
 * child and of its children are reported as unknown.
 */
TEST(children_of_clone_while_a_thread_names_all_regions_anew)
{
	struct timeline *t;
	pthread_t thread;
	pid_t child;
	int status = 1;

	prepare_slow();
	start("none");
	tare_region_begin(&slow);
	tare_region_end(&slow);
	stop();
	CHECK(stopped_at_name(&thread, start_anew));
	child = raw_fork();
	if (!child) {
		struct tare_error err = TARE_ERROR_INIT;

		if (tare_regions_start("elsewhere", "none", &err) != -EAGAIN ||
		    !strstr(err.what, "clone"))
			_exit(1);
		points_of_a_child();
	}
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
	let_it_go(thread);
	many(1);
	stop();
	t = reopen();
	CHECK_EQ(timeline_info(t)->n_threads, 1);
	expect_thread(t, 0, "outer( inner( inner) outer)");
	CHECK(timeline_info(t)->lost_unknown);
	CHECK(!timeline_info(t)->counters_unknown, "none were recorded");
	CHECK(timeline_info(t)->damage &&
		      strstr(timeline_info(t)->damage,
			     "at least 1 process could write nothing, an unknown number of points"),
	      "%s", timeline_info(t)->damage);
	timeline_close(t);
	unlink(path);
}

static int stirring = 1;

static void *stir(void *unused)
{
	while (__atomic_load_n(&stirring, __ATOMIC_RELAXED)) {
		tare_regions_start(path, "none", NULL);
		tare_regions_stop(NULL);
	}
	return unused;
}

/* A child does not use, or wait for, operations of threads that it does not have. */
TEST(children_of_clone_while_a_thread_starts_and_stops)
{
	pthread_t thread;

	need_wiping();
	if (TAP_THREAD_SANITIZER)
		tap_skip("raw fork",
			 "the thread sanitizer takes the parent's threads for the child's");
	start("none");
	stop();
	pthread_create(&thread, NULL, stir, NULL);
	for (int i = 0; i < 100; i++) {
		pid_t child = raw_fork();
		int status;

		if (!child) {
			many(3);
			tare_regions_stop(NULL);
			_exit(0);
		}
		CHECK_EQ(waitpid(child, &status, 0), child);
		CHECK_EQ(status, 0);
	}
	__atomic_store_n(&stirring, 0, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	unlink(path);
}

static void *name_anew(void *unused)
{
	static struct tare_region regions[1000];

	while (__atomic_load_n(&stirring, __ATOMIC_RELAXED))
		for (int i = 0; i < 1000; i++) {
			regions[i] = (struct tare_region){ TARE_LABEL_UNKNOWN, 1, "again",
							   __FILE__ };
			tare_region_begin(&regions[i]);
		}
	return unused;
}

/*
 * A program that is not recorded is not affected: its children do not wait for threads that they do
 * not have.
 */
TEST(children_while_a_thread_names_regions_and_nothing_is_recorded)
{
	pthread_t thread;

	need_wiping();
	pthread_create(&thread, NULL, name_anew, NULL);
	/* exit() sleeps for a second under one sanitizer, and looks for leaks under the other */
	for (int i = 0; i < (TAP_THREAD_SANITIZER ? 2 : TAP_ADDRESS_SANITIZER ? 20 : 200); i++) {
		pid_t child = i % 2 && !TAP_THREAD_SANITIZER ? raw_fork() : fork();
		int status;

		if (!child) {
			many(1);
			exit(tare_label_new("a child's", NULL, 0) != 0);
		}
		CHECK_EQ(waitpid(child, &status, 0), child);
		CHECK_EQ(status, 0);
	}
	__atomic_store_n(&stirring, 0, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

TEST(started_where_the_environment_has_asked_for_it)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline *t;

	snprintf(path, sizeof(path), "region-test-%d.tare", (int)getpid());
	setenv("TARE_REGIONS", path, 1);
	CHECK_EQ(tare_regions_start("elsewhere", NULL, &err), -EBUSY);
	CHECK(strstr(err.what, "TARE_REGIONS") && strstr(err.what, path), "%s", err.what);
	many(1);
	stop();
	CHECK_EQ(access("elsewhere", F_OK), -1);
	t = reopen();
	expect_thread(t, 0, "outer( inner( inner) outer)");
	timeline_close(t);
	start("none"); /* so that the environment is checked */
	many(1);
	stop();
	unlink(path);
}

TEST(started_twice)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline *t;

	start(NULL);
	CHECK_EQ(tare_regions_start("elsewhere", NULL, &err), -EBUSY);
	many(1);
	stop();
	many(1);
	start("none");
	many(2);
	stop();
	t = reopen();
	expect_thread(t, 0, "outer( inner( inner) outer) outer( inner( inner) outer)");
	timeline_close(t);
	unlink(path);
}

static volatile bool enough;
/* held for reading by threads that may be writing a block */
static pthread_rwlock_t recording = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void one_round(void)
{
	tare_label label = tare_label_new("created again", NULL, 0);

	many(20);
	TARE_LABEL_SCOPE(label);
}

static void *until_enough(void *unused)
{
	while (!__atomic_load_n(&enough, __ATOMIC_RELAXED)) {
		pthread_rwlock_rdlock(&recording);
		one_round();
		pthread_rwlock_unlock(&recording);
	}
	return unused;
}

/* Recording starts and stops while threads are within their regions. */
TEST(started_and_stopped_under_running_threads)
{
	enum { THREADS = 4, TIMES = 12 };
	pthread_t thread[THREADS];
	uint64_t points = 0, lost = 0;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, until_enough, NULL);
	for (int i = 0; i < TIMES; i++) {
		struct timeline *t;

		start(i & 1 ? "none" : "wall-time");
		usleep(5000);
		stop();
		/*
		 * A thread within a block when the recording stopped finishes it. Then the file is
		 * complete.
		 */
		pthread_rwlock_wrlock(&recording);
		t = reopen();
		pthread_rwlock_unlock(&recording);
		CHECK_EQ(timeline_info(t)->damage == NULL, 1, "%s", timeline_info(t)->damage);
		for (size_t k = 0; k < timeline_info(t)->n_threads; k++)
			points += count_points(t, k, &lost);
		timeline_close(t);
	}
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK(points > 1000, "%llu", (unsigned long long)points);
	CHECK_EQ(lost, 0);
	unlink(path);
}

TEST(what_cannot_be_counted_is_refused)
{
	static const struct {
		const char *counters;
		int ret;
	} rows[] = {
		{ "wall-time,wall-time", -EINVAL },
		{ "none,wall-time", -EINVAL },
		{ "no-such-event", -ENOENT },
		{ "wall-time,", -EINVAL },
	};
	struct tare_error err = TARE_ERROR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_EQ(tare_regions_start("refused.tare", rows[i].counters, &err), rows[i].ret,
			 "%s: %s", rows[i].counters, err.what);
		CHECK(err.what[0], "%s", rows[i].counters);
		CHECK_EQ(access("refused.tare", F_OK), -1);
	}
	CHECK_EQ(tare_regions_start("/nowhere/x", NULL, &err), -ENOENT);
	CHECK_EQ(tare_regions_start("/dev/null", NULL, &err), -EINVAL);
}

/* With more than 2046 labels, the points of further labels are wide. */
TEST(many_labels_and_long_ones)
{
	enum { LABELS = 5000, LONG = 1 << 20 };
	char name[32], *long_name = malloc(LONG + 1);
	struct timeline *t;
	struct text got = { 0 };
	size_t seen = 0;

	memset(long_name, 'x', LONG);
	long_name[LONG] = '\0';
	start("none");
	for (int i = 0; i < LABELS; i++) {
		tare_label label;

		snprintf(name, sizeof(name), "label %d", i);
		label = tare_label_new(name, NULL, 0);
		CHECK(label != 0);
		tare_label_begin(label);
		tare_label_end(label);
	}
	tare_label_instant(tare_label_new(long_name, NULL, 0));
	stop();
	t = reopen();
	words_of(t, 0, &got);
	for (char *p = got.s; (p = strstr(p, "label ")); p++)
		seen++;
	CHECK_EQ(seen, 2 * LABELS);
	CHECK(strstr(got.s, "label 4999( label 4999) xxx"));
	CHECK(got.len > LONG);
	text_free(&got);
	timeline_close(t);
	free(long_name);
	unlink(path);
}

/* If the file cannot grow, the program continues and the loss is reported. */
TEST(a_limit_of_size_is_a_loss_and_no_signal)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline *t;
	uint64_t lost = 0, n;

	setrlimit(RLIMIT_FSIZE, &limit);
	start(NULL);
	many(4 * MANY);
	CHECK_EQ(tare_regions_stop(&err), -EFBIG);
	CHECK(strstr(err.what, "points could not be written"), "%s", err.what);
	t = reopen();
	n = count_points(t, 0, &lost);
	CHECK(lost > 0);
	CHECK_EQ(n + lost, 16 * MANY);
	CHECK_EQ(timeline_info(t)->thread[0].lost, lost);
	timeline_close(t);
	unlink(path);
}

/* Without space for a label, or for the first block of points, each point is still counted. */
TEST(no_room_from_the_first_point_on)
{
	static const unsigned pages[] = { 2, 2 + BLOCK_BYTES / FILE_PAGE };

	for (unsigned i = 0; i < 2; i++) {
		struct rlimit limit = { pages[i] * FILE_PAGE, RLIM_INFINITY },
			      all = { RLIM_INFINITY, RLIM_INFINITY };
		struct tare_error err = TARE_ERROR_INIT;
		unsigned long long lost;
		struct timeline *t;
		const char *said;

		setrlimit(RLIMIT_FSIZE, &limit);
		start(NULL);
		many(MANY);
		CHECK_EQ(tare_regions_stop(&err), -EFBIG);
		setrlimit(RLIMIT_FSIZE, &all);
		t = reopen();
		said = timeline_info(t)->damage
			? strstr(timeline_info(t)->damage, "could not write ")
			: NULL;
		CHECK(said, "%s", timeline_info(t)->damage);
		lost = said ? strtoull(said + strlen("could not write "), NULL, 10) : 0;
		CHECK_EQ(lost, 4 * MANY, "%u pages", pages[i]);
		CHECK_EQ(timeline_info(t)->lost, lost, "as a number, too");
		CHECK(!timeline_info(t)->lost_unknown, "and no more");
		timeline_close(t);
		unlink(path);
	}
}

/* The layout of a program's heap does not change, whichever thread records first. */
TEST(the_heap_is_left_alone)
{
#ifdef __GLIBC__
	static char text[200];
	const char *args[] = { text };
	struct mallinfo2 before, after;

	start("wall-time");
	/* the C library allocates fork handlers: do it at load, if a recording is requested */
	stop();
	before = mallinfo2();
	start("wall-time");
	tare_region_begin(&outer);
	for (int i = 0; i < 3000; i++) {
		snprintf(text, sizeof(text), "%0*d", i % 150 + 1, i);
		tare_label_instant(tare_label_new("x", args, 1));
	}
	tare_region_end(&outer);
	stop();
	after = mallinfo2();
	CHECK_EQ(after.uordblks, before.uordblks, "bytes in use");
	CHECK_EQ(after.fordblks, before.fordblks, "bytes free");
	CHECK_EQ(after.ordblks, before.ordblks, "free chunks");
	CHECK_EQ(after.hblks, before.hblks, "mapped");
	unlink(path);
#endif
}

TEST(labels_without_text)
{
	TARE_REGION(blank, "");
	const char *const args[2] = { "a", NULL };

	start("none");
	CHECK_EQ(tare_label_new(NULL, NULL, 0), 0);
	CHECK_EQ(tare_label_new("", NULL, 0), 0);
	CHECK_EQ(tare_label_new("x", NULL, 1), 0);
	CHECK_EQ(tare_label_new("x", args, 2), 0);
	CHECK(tare_label_new("x", args, 1) != 0);
	tare_region_begin(&blank);
	tare_region_end(&blank);
	CHECK_EQ(tare_region_label(&blank), 0);
	stop();
	start("none");
	CHECK_EQ(blank.label, 0, "in the next one, too");
	stop();
	unlink(path);
}

/* The program closes descriptors that it does not know, and reuses their numbers. */
TEST(a_closed_descriptor_does_no_harm)
{
	struct timeline *t;
	uint64_t lost = 0;
	char other[] = "region-test-other-XXXXXX";
	int fd = mkstemp(other);
	struct stat st;

	start(NULL);
	many(MANY);
	for (int i = 3; i < 1100; i++)
		if (i != fd)
			dup2(fd, i);
	for (int i = 20; i < 30; i++)
		close(i);
	many(MANY);
	stop();
	t = reopen();
	CHECK_EQ(count_points(t, 0, &lost), 8 * MANY);
	CHECK_EQ(lost, 0);
	timeline_close(t);
	fstat(fd, &st);
	CHECK_EQ(st.st_size, 0);
	unlink(other);
	unlink(path);
}

/* A truncated file is read up to its end. A modified file is read, or refused with the offset. */
TEST(cut_and_changed_files)
{
	struct tare_error err = TARE_ERROR_INIT;
	uint64_t whole, before = 0, lost = 0;
	struct timeline *t;
	struct stat st;
	uint32_t seed = 1;

	start(NULL);
	many(MANY / 8);
	stop();
	t = reopen();
	whole = count_points(t, 0, &lost);
	timeline_close(t);
	CHECK_EQ(whole, 4 * (MANY / 8));
	if (stat(path, &st) < 0)
		return;

	char *bytes = malloc((size_t)st.st_size), *copy = malloc((size_t)st.st_size);
	int fd = open(path, O_RDWR);

	CHECK_EQ(pread(fd, bytes, (size_t)st.st_size, 0), st.st_size);
	for (off_t size = 0; size <= st.st_size; size += size < 3 * FILE_PAGE ? 1777 : 3571) {
		CHECK_EQ(ftruncate(fd, 0), 0);
		CHECK_EQ(pwrite(fd, bytes, (size_t)size, 0), size);
		if (timeline_open(&t, path, &err) < 0) {
			CHECK(size < 2 * FILE_PAGE, "%lld: %s", (long long)size, err.what);
			continue;
		}

		uint64_t n = timeline_info(t)->n_threads ? count_points(t, 0, &lost) : 0;

		CHECK(n >= before && n <= whole, "%llu points of %lld bytes", (unsigned long long)n,
		      (long long)size);
		CHECK(n == whole || timeline_info(t)->damage,
		      "%llu points of %lld bytes, without a message", (unsigned long long)n,
		      (long long)size);
		before = n;
		timeline_close(t);
	}
	for (int i = 0; i < 150; i++) {
		memcpy(copy, bytes, (size_t)st.st_size);
		for (int k = 0; k < 3; k++) {
			seed = seed * 1664525 + 1013904223;
			/* Two of three changes are in the first pages, where the heads are. */
			copy[(seed >> 4) % (k ? 5 * FILE_PAGE : (size_t)st.st_size)] =
				(char)(seed >> 24);
		}
		CHECK_EQ(pwrite(fd, copy, (size_t)st.st_size, 0), st.st_size);
		if (timeline_open(&t, path, &err) < 0) {
			CHECK(err.what[0]);
			continue;
		}
		for (size_t k = 0; k < timeline_info(t)->n_threads; k++)
			CHECK(count_points(t, k, &lost) <= whole);
		timeline_close(t);
	}
	close(fd);
	free(bytes);
	free(copy);
	unlink(path);
}

/*
 * A page that was never written to disk, with names of a process and of its child, each with its
 * own labels.
 */
TEST(names_that_are_not_there_are_told)
{
	struct tare_error err = TARE_ERROR_INIT;
	static const char none[FILE_PAGE];
	char page[FILE_PAGE];
	struct timeline *t;
	int status, pages = 0;
	pid_t child;

	start("none");
	many(1);
	child = fork();
	if (!child) {
		for (char name[] = "a"; *name <= 'z'; name[0]++)
			tare_label_instant(tare_label_new(name, NULL, 0));
		exit(0);
	}
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
	stop();
	t = reopen();
	CHECK(!timeline_info(t)->damage, "%s", timeline_info(t)->damage);
	timeline_close(t);

	int fd = open(path, O_RDWR);

	for (off_t at = FILE_PAGE; pread(fd, page, sizeof(page), at) > 0; at += FILE_PAGE) {
		const struct block_head *b = (void *)page;

		if (b->magic != BLOCK_MAGIC || b->kind != BLOCK_LABELS)
			continue;
		pages++;
		CHECK_EQ(pwrite(fd, none, sizeof(none), at), sizeof(none));
		CHECK_EQ(timeline_open(&t, path, &err), 0, "%s", err.what);
		CHECK(timeline_info(t)->damage && strstr(timeline_info(t)->damage, "labels"),
		      "at offset %lld: %s", (long long)at,
		      timeline_info(t)->damage ? timeline_info(t)->damage : "not a word");
		for (uint32_t i = 0; i < timeline_info(t)->n_labels; i++)
			if (!strcmp(timeline_label(t, i)->name, "(label with lost name)"))
				CHECK_EQ(timeline_label(t, i)->record_path, TIMELINE_PATH_UNKNOWN,
					 "its overhead is not known");
		timeline_close(t);
		CHECK_EQ(pwrite(fd, page, sizeof(page), at), sizeof(page));
	}
	CHECK_EQ(pages, 2);
	close(fd);
	unlink(path);
}

/* The reported damage of the file at `path`, and the number of its labels with names. */
static char *damage_and_names(unsigned *names)
{
	struct timeline *t = reopen();
	char *damage = strdup(timeline_info(t)->damage ? timeline_info(t)->damage : "");

	*names = 0;
	for (uint32_t i = 0; i < timeline_info(t)->n_labels; i++)
		*names += timeline_label(t, i)->name[0] != '(';
	timeline_close(t);
	return damage;
}

static void name_each(unsigned from, unsigned to)
{
	char name[60];

	for (unsigned i = from; i < to; i++) {
		snprintf(name, sizeof(name), "label-number-with-a-long-name-%u", i);
		CHECK(tare_label_new(name, NULL, 0) != 0);
	}
}

/* In addition to a label of the program with the same text. */
static void expect_one_nameless(void)
{
	struct timeline *t = reopen();
	unsigned own = 0, nameless = 0;

	for (uint32_t i = 0; i < timeline_info(t)->n_labels; i++) {
		const struct timeline_label *l = timeline_label(t, i);

		if (strcmp(l->name, "(label with lost name)"))
			continue;
		CHECK_EQ(l->group, i);
		own += !*l->kind;
		nameless += !strcmp(l->kind, TIMELINE_NAMELESS);
	}
	CHECK(own == 1 && nameless == 1, "%u and %u", own, nameless);
	timeline_close(t);
}

/* No space for names, in a process and in its child: their number is reported, each name once. */
TEST(names_that_could_not_be_written_are_told)
{
	enum { BLOCKS = 2, LABELS = 3000, CHILDS = 50 };
	struct rlimit limit = { 2 * FILE_PAGE + BLOCKS * BLOCK_BYTES, RLIM_INFINITY };
	struct tare_error err = TARE_ERROR_INIT;
	char *damage, wanted[200];
	unsigned names, lost;
	int status;

	setrlimit(RLIMIT_FSIZE, &limit);
	start("none");
	many(1);
	tare_label_instant(tare_label_new("(label with lost name)", NULL, 0));
	name_each(0, LABELS);
	name_each(0, LABELS);
	if (!fork()) {
		name_each(LABELS - CHILDS, LABELS + CHILDS);
		_exit(0); /* without cleanup, as if it were killed */
	}
	wait(&status);
	CHECK_EQ(tare_regions_stop(&err), -EFBIG);
	damage = damage_and_names(&names);
	lost = LABELS + 2 - names;
	CHECK(names > 500 && lost > 500, "%u of %u", names, LABELS);
	snprintf(wanted, sizeof(wanted),
		 "the names of %u labels could not be written: File too large", lost);
	CHECK(strstr(err.what, wanted) && !strstr(err.what, "points"), "%s", err.what);
	snprintf(wanted, sizeof(wanted),
		 "process %d could not write the names of %u labels: File too large", (int)getpid(),
		 lost);
	CHECK(strstr(damage, wanted), "%s", damage);
	expect_one_nameless();
	CHECK(!strstr(damage, "labels of") && !strstr(damage, "missing") &&
		      !strstr(damage, "the file ends"),
	      "%s", damage);
	free(damage);
	unlink(path);
}

static void kill_one_with_labels(bool long_one)
{
	char name[20000] = "";
	const char *args[] = { "argument" };
	int status;

	snprintf(path, sizeof(path), "region-test-%d.tare", (int)getpid());
	if (!fork()) {
		CHECK_EQ(tare_regions_start(path, "none", NULL), 0);
		memset(name, 'n', long_one ? sizeof(name) - 1 : 0);
		if (long_one)
			tare_label_instant(tare_label_new(name, args, 1));
		for (int i = 0; i < 82 && !long_one; i++) {
			snprintf(name, sizeof(name), "query_%04d_of_the_compiler%s", i,
				 i ? "" : "12345");
			tare_label_instant(tare_label_new(name, NULL, 0));
		}
		kill(getpid(), SIGKILL);
	}
	wait(&status);
	CHECK(WIFSIGNALED(status));
}

/*
 * A page that was never written to disk, in the block of labels of a killed program: no label loses
 * a part of its texts silently.
 */
TEST(texts_that_end_early_are_told)
{
	static const char none[FILE_PAGE];
	struct timeline *t;
	char page[FILE_PAGE];
	unsigned zeroed[2] = { 0 };

	for (int longer = 0; longer < 2; longer++) {
		off_t labels = 0;
		int fd;

		kill_one_with_labels(longer);
		fd = open(path, O_RDWR);
		for (off_t at = FILE_PAGE; pread(fd, page, sizeof(page), at) == sizeof(page) &&
		     (!labels || memcmp(page, none, sizeof(none)));
		     at += FILE_PAGE) {
			const struct block_head *b = (void *)page;

			if (b->magic == BLOCK_MAGIC && b->kind == BLOCK_LABELS) {
				labels = at;
				continue;
			}
			if (!labels)
				continue;
			CHECK_EQ(pwrite(fd, none, sizeof(none), at), sizeof(none));
			t = reopen();
			CHECK(timeline_info(t)->damage &&
				      strstr(timeline_info(t)->damage, "a label in the block"),
			      "%lld: %s", (long long)at, timeline_info(t)->damage);
			for (uint32_t i = 0; i < timeline_info(t)->n_labels; i++) {
				const struct timeline_label *l = timeline_label(t, i);

				CHECK(l->name[0] && (l->name[0] != 'n' || strlen(l->name) == 19999),
				      "%s", l->name);
			}
			timeline_close(t);
			CHECK_EQ(pwrite(fd, page, sizeof(page), at), sizeof(page));
			zeroed[longer]++;
		}
		close(fd);
		unlink(path);
	}
	CHECK(zeroed[0] == 1 && zeroed[1] == 4, "%u and %u pages", zeroed[0], zeroed[1]);
}

/*
 * A refused name of more than 256 MiB must not hide other losses: a child's blocks, the file's end.
 */
TEST(a_name_too_long_hides_nothing)
{
	static char part[1 << 20];
	static const char none[FILE_PAGE];
	const char *args[256];
	struct tare_error err = TARE_ERROR_INIT;
	struct stat st;
	char *damage, page[FILE_PAGE];
	unsigned names;
	int status, fd;

	memset(part, 'x', sizeof(part) - 1);
	for (size_t i = 0; i < 256; i++)
		args[i] = part;
	start("none");
	for (int i = 0; i < 2; i++)
		tare_label_instant(tare_label_new("long", args, 256));
	if (!fork()) {
		many(1);
		exit(0);
	}
	wait(&status);
	many(1);
	CHECK_EQ(tare_regions_stop(&err), -E2BIG);
	CHECK(strstr(err.what, "the name of 1 label could not be written: longer than 256 MiB"),
	      "%s", err.what);
	damage = damage_and_names(&names);
	CHECK(strstr(damage, "could not write the name of 1 label: longer than 256 MiB") &&
		      !strchr(damage, ';'),
	      "%s", damage);
	free(damage);

	fd = open(path, O_RDWR);
	for (off_t at = FILE_PAGE; pread(fd, page, sizeof(page), at) > 0; at += FILE_PAGE) {
		const struct block_head *b = (void *)page;

		if (b->magic == BLOCK_MAGIC && b->process == 1)
			CHECK_EQ(pwrite(fd, none, sizeof(none), at), sizeof(none));
	}
	damage = damage_and_names(&names);
	CHECK(strstr(damage, "of 1 process the file has no points"), "%s", damage);
	free(damage);
	fstat(fd, &st);
	CHECK_EQ(ftruncate(fd, st.st_size - BLOCK_BYTES), 0);
	damage = damage_and_names(&names);
	CHECK(strstr(damage, "the file ends at offset"), "%s", damage);
	free(damage);
	close(fd);
	unlink(path);
}

TEST(other_versions_and_byte_orders_by_name)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct file_head h;
	struct timeline *t;
	int fd;

	start("none");
	stop();
	fd = open(path, O_RDWR);
	CHECK_EQ(pread(fd, &h, sizeof(h), 0), sizeof(h));
	h.order = __builtin_bswap32(h.order);
	CHECK_EQ(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
	CHECK_EQ(timeline_open(&t, path, &err), -EINVAL);
	CHECK(strstr(err.what, "big-endian"), "%s", err.what);
	h.order = __builtin_bswap32(h.order);
	h.version = 7;
	CHECK_EQ(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
	CHECK_EQ(timeline_open(&t, path, &err), -EINVAL);
	CHECK(strstr(err.what, "version 7"), "%s", err.what);
	h.version = FILE_VERSION;
	h.machine = 183; /* the CPU of another machine makes no difference to the reader */
	CHECK_EQ(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
	CHECK_EQ(timeline_open(&t, path, &err), 0, "%s", err.what);
	timeline_close(t);
	close(fd);
	unlink(path);
}

/* In one of the first turns, 20 us pass between two regions. */
static void once_slow(tare_label label, unsigned n, void *with)
{
	unsigned *turn = with;
	struct timespec from, now;

	++*turn;
	for (unsigned i = 0; i < n; i++) {
		tare_label_begin(label);
		tare_label_end(label);
		clock_gettime(CLOCK_MONOTONIC, &from);
		do
			clock_gettime(CLOCK_MONOTONIC, &now);
		while (*turn == 5 &&
		       (now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec <
			       20000);
	}
}

/* Regions of a binding that are sometimes more expensive: the reported error covers that cost. */
TEST(what_a_region_costs_at_times)
{
	const struct timeline_own *own;
	struct timeline *t;
	unsigned turn = 0;

	start("wall-time");
	tare_region_begin(&outer);
	tare_region_end(&outer);
	CHECK_EQ(tare_region_measure(TARE_PATH_OTHER, once_slow, &turn), 0);
	stop();
	t = reopen();
	own = &timeline_info(t)->counter[0].own[TARE_PATH_OTHER];
	CHECK(own->known && own->outside - own->outside_off < 10000 &&
		      own->outside + own->outside_off > 20000,
	      "%g +- %g", own->outside, own->outside_off);
	timeline_close(t);
	unlink(path);
}

static pid_t forked;

static void forks_once(tare_label label, unsigned n, void *with)
{
	int *times = with;

	if (++*times == 3)
		forked = fork();
	for (unsigned i = 0; i < n; i++) {
		tare_label_begin(label);
		tare_label_end(label);
	}
}

/*
 * As when a handler forks while a recording begins: the child continues the measurement, and its
 * points are neither recorded nor counted as lost.
 */
TEST(a_child_that_is_made_while_a_region_is_measured)
{
	struct timeline *t;
	int times = 0, status;

	start("wall-time");
	CHECK_EQ(tare_region_measure(TARE_PATH_OTHER, forks_once, &times), 0);
	CHECK(times > 10);
	many(1);
	if (!forked) {
		tare_regions_stop(NULL);
		_exit(tap_failures ? 1 : 0);
	}
	CHECK_EQ(waitpid(forked, &status, 0), forked);
	CHECK_EQ(status, 0);
	stop();
	t = reopen();
	CHECK_EQ(timeline_info(t)->damage == NULL, 1, "%s", timeline_info(t)->damage);
	CHECK_EQ(timeline_info(t)->n_threads, 2);
	for (size_t i = 0; i < 2; i++)
		expect_thread(t, i, "outer( inner( inner) outer)");
	timeline_close(t);
	unlink(path);
}

TEST_MAIN()
