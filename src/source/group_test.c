/* SPDX-License-Identifier: MIT */
/* The library's events, groups and pinned counters, through its public interface. */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "base/error.h"
#include "base/file.h"
#include "tare/event.h"
#include "tare/group.h"
#include "tare/pinned.h"
#include "tap.h"

enum { PAGES = 64, PAGE_BYTES = 4096 };

/* Software events that any user may count, in user mode. */
#define EVENTS "task-clock,page-faults:u,minor-faults:u"

static struct tare_events *events_of(const char *text)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_events *events = tare_events_new(text, &err);

	if (!CHECK(events, "%s: %s", text, err.what))
		exit(TAP_FAILED);
	return events;
}

/* The error of an earlier call. */
static struct tare_error stale(void)
{
	return (struct tare_error){
		.code = EIO, .at = 3, .what = "an earlier error", .hint = "of another call"
	};
}

static void check_none(const struct tare_error *err, const char *function)
{
	CHECK(err->code == 0 && err->at == -1 && !err->what[0] && !err->hint[0], "%s: %d, %s",
	      function, err->code, err->what);
}

TEST(no_error_after_success)
{
	struct tare_error err = stale();
	struct tare_events *events = tare_events_new(EVENTS, &err);
	struct tare_reading reading[3];
	struct tare_group *g;
	uint64_t count;

	CHECK(events, "%s", err.what);
	check_none(&err, "tare_events_new");
	err = stale();
	g = tare_group_open(events, 0, 0, &err);
	if (!g)
		tap_skip("perf", "%s (%s)", err.what, err.hint);
	check_none(&err, "tare_group_open");
	err = stale();
	CHECK_EQ(tare_group_start(g, &err), 0);
	check_none(&err, "tare_group_start");
	err = stale();
	CHECK_EQ(tare_group_read(g, reading, &err), 0);
	check_none(&err, "tare_group_read");
	err = stale();
	CHECK_EQ(tare_group_count(g, 0, &count, &err), 0);
	check_none(&err, "tare_group_count");
	err = stale();
	CHECK_EQ(tare_group_stop(g, &err), 0);
	check_none(&err, "tare_group_stop");
	err = stale();
	CHECK(!tare_group_user_reads(g, &err) == (err.code != 0), "tare_group_user_reads: %d",
	      err.code);
	tare_group_close(g);
	err = stale();
	g = tare_group_open_cpu(events, 0, 0, &err);
	CHECK(!g == (err.code != 0), "tare_group_open_cpu: %d", err.code);
	tare_group_close(g);
	tare_events_free(events);
}

static struct tare_group *group_of(const char *text, unsigned flags)
{
	struct tare_events *events = events_of(text);
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_group *g = tare_group_open(events, 0, flags, &err);

	tare_events_free(events);
	if (!g)
		tap_skip("perf", "%s (%s)", err.what, err.hint);
	return g;
}

/* Compares with the kernel's own count of this thread's page faults. */
static uint64_t faults_so_far(void)
{
	struct rusage use;

	getrusage(RUSAGE_THREAD, &use);
	return (uint64_t)use.ru_minflt + (uint64_t)use.ru_majflt;
}

static void touch_pages(void)
{
	char *p = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)p)[i * PAGE_BYTES] = 1;
	munmap(p, PAGES * PAGE_BYTES);
}

TEST(events_have_names_and_units)
{
	struct tare_events *events = events_of(EVENTS);

	CHECK_EQ(tare_events_count(events), 3);
	CHECK_STR(tare_events_name(events, 0), "task-clock");
	CHECK_STR(tare_events_name(events, 2), "minor-faults:u");
	CHECK_STR(tare_events_unit(events, 1), "");
	CHECK(tare_events_scale(events, 1) == 1.0);
	tare_events_free(events);
	tare_events_free(NULL);
}

static const struct {
	int line;
	const char *text;
	int at;
	const char *what;
} bad_events[] = {
	{ __LINE__, "page-faults,page-fualts", 12, "page-fualts" },
	{ __LINE__, "{page-faults", -2, "" },
	{ __LINE__, "", -2, "" },
};

/* They occur in the kernel, never in user mode. */
TEST(what_would_stay_0_is_refused)
{
	static const char *const texts[] = { "context-switches:u", "cpu-migrations:u", "cs:u",
					     "{task-clock,context-switches:u}" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct tare_events *events = events_of(texts[i]);
		struct tare_error err = TARE_ERROR_INIT;

		CHECK(!tare_group_open(events, 0, 0, &err), "%s", texts[i]);
		CHECK(strstr(err.what, ":u happens in the kernel"), "%s: %s", texts[i], err.what);
		CHECK(err.hint[0] && !strstr(err.hint, "so would"), "%s: %s", texts[i], err.hint);
		CHECK(!tare_pinned_open(events, &err), "%s", texts[i]);
		CHECK(strstr(err.what, "would stay 0"), "%s: %s", texts[i], err.what);
		tare_events_free(events);
	}
}

/* The kernel's clocks ignore the modifiers: the count would include what they exclude. */
TEST(a_clock_of_one_mode_is_refused)
{
	static const char *const texts[] = { "task-clock:u", "cpu-clock:u", "task-clock:k",
					     "cpu-clock:h", "{page-faults:u,task-clock}:u" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct tare_events *events = events_of(texts[i]);
		struct tare_error err = TARE_ERROR_INIT;

		CHECK(!tare_group_open(events, 0, 0, &err), "%s", texts[i]);
		CHECK(strstr(err.what, "clock") &&
			      strstr(err.what, " would count both user mode and the kernel"),
		      "%s: %s", texts[i], err.what);
		CHECK(!strncmp(err.hint, "leave out the modifier; user_time", 33), "%s: %s",
		      texts[i], err.hint);
		tare_events_free(events);
	}
}

TEST(bad_events_are_pointed_at)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad_events); i++) {
		struct tare_error err = TARE_ERROR_INIT;

		CHECK(!tare_events_new(bad_events[i].text, &err), "row at line %d",
		      bad_events[i].line);
		CHECK(err.code > 0, "row at line %d", bad_events[i].line);
		if (bad_events[i].at != -2)
			CHECK_EQ(err.at, bad_events[i].at, "row at line %d", bad_events[i].line);
		CHECK(strstr(err.what, bad_events[i].what), "%s", err.what);
	}
}

TEST(a_group_counts)
{
	struct tare_group *g = group_of(EVENTS, 0);
	struct tare_reading r[3];
	struct tare_error err = TARE_ERROR_INIT;
	uint64_t count, before;

	CHECK_EQ(tare_group_size(g), 3);
	before = faults_so_far();
	CHECK_EQ(tare_group_start(g, &err), 0);
	touch_pages();
	CHECK_EQ(tare_group_stop(g, &err), 0);
	before = faults_so_far() - before;
	CHECK_EQ(tare_group_read(g, r, &err), 0);
	CHECK(r[1].raw >= PAGES && r[1].raw <= before, "page-faults %llu, the kernel says %llu",
	      (unsigned long long)r[1].raw, (unsigned long long)before);
	CHECK_EQ(r[0].quality, TARE_COUNTED);
	CHECK_EQ(tare_group_count(g, 1, &count, &err), 0);
	CHECK_EQ(count, r[1].raw);
	CHECK_EQ(tare_group_count(g, 3, &count, &err), -EINVAL);
	CHECK(strstr(err.what, "no event 3"), "%s", err.what);
	tare_group_close(g);
	tare_group_close(NULL);
}

/*
 * Software events are in no register: with user reads requested, the group reports that, and is
 * still read.
 */
TEST(user_reads_fall_back_and_say_so)
{
	struct tare_group *g = group_of(EVENTS, TARE_USER_READS);
	struct tare_reading r[3];
	struct tare_error why = TARE_ERROR_INIT;
	uint64_t count = 0;

	tare_group_start(g, NULL);
	touch_pages();
	CHECK(!tare_group_user_reads(g, &why));
	CHECK_EQ(why.code, EOPNOTSUPP);
	CHECK(strstr(why.what, "not in a register"), "%s", why.what);
	CHECK_EQ(tare_group_read(g, r, NULL), 0);
	CHECK(r[1].raw >= PAGES);
	CHECK_EQ(tare_group_count(g, 1, &count, NULL), 0);
	CHECK(count >= r[1].raw);
	tare_group_close(g);

	g = group_of(EVENTS, TARE_USER_READS | TARE_INHERIT);
	CHECK(!tare_group_user_reads(g, &why));
	CHECK(strstr(why.what, "children"), "%s", why.what);
	tare_group_close(g);

	g = group_of(EVENTS, 0);
	CHECK(!tare_group_user_reads(g, &why));
	CHECK(strstr(why.what, "not opened for reads"), "%s", why.what);
	tare_group_close(g);
}

TEST(bad_flags_threads_and_cpus)
{
	struct tare_events *events = events_of(EVENTS);
	struct tare_error err = TARE_ERROR_INIT;

	CHECK(!tare_group_open(events, 0, 1u << 20, &err));
	CHECK_EQ(err.code, EINVAL);
	CHECK(!tare_group_open(events, -1, 0, &err));
	CHECK_EQ(err.code, EINVAL);
	CHECK(!tare_group_open_cpu(events, -1, 0, &err));
	CHECK_EQ(err.code, EINVAL);
	CHECK(!tare_group_open_cpu(events, 0, TARE_INHERIT, &err));
	CHECK_EQ(err.code, EINVAL);
	CHECK(!tare_group_open(events, 0x3fffffff, 0, &err));
	CHECK_EQ(err.code, ESRCH);
	CHECK(strstr(err.what, "no thread 1073741823"), "%s", err.what);
	tare_events_free(events);
}

TEST(software_events_cannot_be_pinned)
{
	struct tare_events *events = events_of("task-clock");
	struct tare_error err = TARE_ERROR_INIT;

	CHECK(!tare_pinned_open(events, &err));
	CHECK_EQ(err.code, EOPNOTSUPP);
	CHECK(strstr(err.what, "task-clock"), "%s", err.what);
	tare_events_free(events);
}

enum { THREADS = 4 };

static void *count_own_faults(void *arg)
{
	struct tare_group *g = group_of(EVENTS, TARE_USER_READS);
	uint64_t *count = arg, own;

	tare_group_start(g, NULL);
	own = faults_so_far();
	touch_pages();
	own = faults_so_far() - own;
	tare_group_stop(g, NULL);
	if (tare_group_count(g, 1, count, NULL) < 0 || *count < own)
		*count = 0;
	tare_group_close(g);
	return NULL;
}

/* One group per thread, not shared: each counts only its own thread. */
TEST(threads_count_for_themselves)
{
	pthread_t thread[THREADS];
	uint64_t count[THREADS] = { 0 };

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, count_own_faults, &count[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < THREADS; i++)
		CHECK(count[i] >= PAGES, "thread %d: %llu", i, (unsigned long long)count[i]);
}

/* Number of mappings of this process, and of counter pages among them. */
static void count_maps(size_t *all, size_t *pages)
{
	char *text = NULL;

	*all = *pages = 0;
	if (file_read(NULL, "/proc/self/maps", 1 << 20, &text, NULL, NULL) < 0)
		return;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		++*all;
		*pages += strstr(line, "perf_event") != NULL;
	}
	free(text);
}

TEST(many_groups_leak_no_mapping)
{
	enum { ROUNDS = 1000, ALLOCATOR = 50 };
	struct tare_events *events = events_of(EVENTS);
	size_t before, after, pages;

	tare_group_close(group_of(EVENTS, TARE_USER_READS));
	count_maps(&before, &pages);
	CHECK_EQ(pages, 0);

	int next = dup(0);

	close(next);
	for (int i = 0; i < ROUNDS; i++) {
		struct tare_group *g = tare_group_open(events, 0, TARE_USER_READS, NULL);

		tare_group_start(g, NULL);
		tare_group_close(g);
		CHECK(!tare_pinned_open(events, NULL));
	}
	count_maps(&after, &pages);
	CHECK_EQ(pages, 0);
	CHECK(before > 0 && after <= before + ALLOCATOR, "%zu mappings became %zu", before, after);
	CHECK_EQ(dup(0), next);
	tare_events_free(events);
}

/*
 * The arithmetic of pinned counters: bits above the width never appear, whatever the register did
 * between two reads.
 */
static const struct {
	int line;
	unsigned width;
	uint64_t before, after, events;
} differences[] = {
	{ __LINE__, 48, 5, 9, 4 },
	{ __LINE__, 48, 0xffffffffffff, 0, 1 },
	{ __LINE__, 48, 0xfffffffffff0, 0x10, 0x20 },
	{ __LINE__, 48, 0x800000000000, 0x7fffffffffff, 0xffffffffffff },
	{ __LINE__, 40, 0xffffffffff, 4, 5 },
	{ __LINE__, 40, 0, 0, 0 },
	{ __LINE__, 64, UINT64_MAX, 1, 2 },
	{ __LINE__, 64, 1ull << 63, (1ull << 63) + 7, 7 },
	/* Read by read(2) in between: the count minus the base, which may exceed the width. */
	{ __LINE__, 48, 0x800000000005, 0xffff80000000000aull, 5 },
};

TEST(pinned_differences)
{
	for (size_t i = 0; i < ARRAY_SIZE(differences); i++) {
		struct tare_pinned p = { .mask = UINT64_MAX >> (64 - differences[i].width) };

		CHECK_EQ(tare_pinned_difference(&p, differences[i].before, differences[i].after),
			 differences[i].events, "row at line %d", differences[i].line);
	}
}

TEST(hardware_where_there_is_some)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_events *events = tare_events_new("cycles:u", &err);
	struct tare_pinned *p;
	uint64_t a = 0, b = 0;

	if (!events)
		tap_skip("pmu_core", "%s", err.what);
	p = tare_pinned_open(events, &err);
	tare_events_free(events);
	if (!p)
		tap_skip("user_reads", "%s (%s)", err.what, err.hint);
	CHECK_EQ(tare_pinned_read(p, &a, 1), 0);
	for (volatile int i = 0; i < 1000; i++)
		;
	CHECK_EQ(tare_pinned_read(p, &b, 1), 0);
	CHECK(tare_pinned_difference(p, a, b) > 1000, "%llu",
	      (unsigned long long)tare_pinned_difference(p, a, b));
	tare_pinned_close(p);
	tare_pinned_close(NULL);
}

TEST_MAIN()
