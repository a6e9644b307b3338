/* SPDX-License-Identifier: MIT */
/*
 * The perf source with events that every kernel counts: task-clock, page faults, context switches.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include "base/error.h"
#include "base/file.h"
#include "source/perf_why.h"
#include "source/source.h"
#include "tap.h"

enum { PAGES = 64 };

#define SOFTWARE(label, what)                                                                      \
	{                                                                                          \
		.name = label, .source = &source_perf, .scale = 1.0, .attr = {                     \
			.type = PERF_TYPE_SOFTWARE,                                                \
			.config = what,                                                            \
			.exclude_hv = 1                                                            \
		}                                                                                  \
	}

static const struct encoding task_clock = SOFTWARE("task-clock", PERF_COUNT_SW_TASK_CLOCK);
static const struct encoding page_faults = SOFTWARE("page-faults", PERF_COUNT_SW_PAGE_FAULTS);
static const struct encoding switches = SOFTWARE("context-switches",
						 PERF_COUNT_SW_CONTEXT_SWITCHES);
static const struct encoding *const three[] = { &task_clock, &page_faults, &switches };
static const struct target self = { .cpu = -1, .cgroup_fd = -1 };

static struct counters *open_or_skip(const struct encoding *const *enc, size_t n,
				     const struct target *on)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct counters *c = NULL;

	if (source_perf.probe(&err) < 0)
		tap_skip("perf", "%s (%s)", err.what, err.hint);
	if (!CHECK(source_perf.open(&c, enc, n, on, NULL, &err) == 0, "%s", err.what))
		exit(TAP_FAILED);
	return c;
}

/* Write to untouched pages: each causes exactly one fault (huge pages are disabled by madvise). */
static void touch_pages(size_t pages)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, pages * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	if (!CHECK(p != MAP_FAILED))
		return;
	madvise(p, pages * size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		((volatile char *)p)[i * size] = 1;
	munmap(p, pages * size);
}

/*
 * The kernel's own count of this thread's page faults, for comparison. A sanitizer's shadow memory
 * faults, too.
 */
static int64_t faults_had(void)
{
	struct rusage used;

	getrusage(RUSAGE_THREAD, &used);
	return used.ru_minflt + used.ru_majflt;
}

static void *touch_in_thread(void *arg)
{
	(void)arg;
	touch_pages(PAGES);
	return NULL;
}

TEST(group_counts_faults_and_time)
{
	struct tare_reading r[3], again[3];
	struct counters *c = open_or_skip(three, 3, &self);

	CHECK_EQ(source_perf.read(c, r, NULL), 0);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(r[i].raw, 0, "event %d counts before start", i);
		CHECK_EQ(r[i].enabled_ns, 0);
	}
	touch_pages(PAGES); /* the code and the stack are in memory from here on */

	int64_t faults = -faults_had();

	CHECK_EQ(source_perf.start(c, NULL), 0);
	touch_pages(PAGES);
	sched_yield();
	CHECK_EQ(source_perf.stop(c, NULL), 0);
	faults += faults_had();
	CHECK_EQ(source_perf.read(c, r, NULL), 0);
	CHECK(r[0].raw > 0 && r[0].raw < 10000000000u, "task-clock %llu ns",
	      (unsigned long long)r[0].raw);
	CHECK(r[1].raw >= PAGES && (int64_t)r[1].raw <= faults, "%llu of %d pages, %lld faults",
	      (unsigned long long)r[1].raw, PAGES, (long long)faults);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(r[i].quality, TARE_COUNTED);
		CHECK_EQ(r[i].enabled_ns, r[i].running_ns);
		CHECK(r[i].enabled_ns > 0);
	}
	touch_pages(PAGES);
	CHECK_EQ(source_perf.read(c, again, NULL), 0);
	CHECK_EQ(again[1].raw, r[1].raw, "a stopped group counts");
	CHECK_EQ(again[0].raw, r[0].raw);
	faults = -faults_had();
	CHECK_EQ(source_perf.start(c, NULL), 0);
	touch_pages(1);
	CHECK_EQ(source_perf.stop(c, NULL), 0);
	faults += faults_had();
	CHECK_EQ(source_perf.read(c, again, NULL), 0);

	int64_t more = (int64_t)(again[1].raw - r[1].raw);

	CHECK(more >= 1 && more <= faults, "stop and start again: %lld more, %lld faults",
	      (long long)more, (long long)faults);
	source_perf.close(c);
}

TEST(order_is_that_of_open)
{
	static const struct encoding *const reversed[] = { &switches, &page_faults, &task_clock };
	struct tare_reading r[3];
	struct counters *c = open_or_skip(reversed, 3, &self);

	touch_pages(1);

	int64_t faults = -faults_had();

	source_perf.start(c, NULL);
	touch_pages(PAGES);
	source_perf.stop(c, NULL);
	faults += faults_had();
	CHECK_EQ(source_perf.read(c, r, NULL), 0);
	CHECK(r[1].raw >= PAGES && (int64_t)r[1].raw <= faults, "%llu of %d pages, %lld faults",
	      (unsigned long long)r[1].raw, PAGES, (long long)faults);
	CHECK(r[2].raw > 1000, "task-clock last: %llu", (unsigned long long)r[2].raw);
	source_perf.close(c);
}

TEST(inherit_over_forks_and_threads)
{
	struct target on = self;
	struct tare_reading r[3], alone[3];

	on.inherit = true;

	struct counters *c = open_or_skip(three, 3, &on), *own = open_or_skip(three, 3, &self);

	source_perf.start(c, NULL);
	source_perf.start(own, NULL);
	for (int i = 0; i < 4; i++) {
		pthread_t thread;
		pid_t pid = fork();

		if (pid == 0) {
			touch_pages(PAGES);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		pthread_create(&thread, NULL, touch_in_thread, NULL);
		pthread_join(thread, NULL);
	}
	CHECK_EQ(source_perf.read(c, r, NULL), 0);
	CHECK_EQ(source_perf.read(own, alone, NULL), 0);
	CHECK(r[1].raw >= 8 * PAGES, "page-faults %llu", (unsigned long long)r[1].raw);
	CHECK(alone[1].raw + 8 * PAGES <= r[1].raw, "without inherit %llu, with %llu",
	      (unsigned long long)alone[1].raw, (unsigned long long)r[1].raw);
	CHECK_EQ(r[1].quality, TARE_COUNTED);
	source_perf.close(c);
	source_perf.close(own);
}

/* While children are created and exit, a group read of inherited counters must still succeed. */
TEST(inherit_reads_while_children_come_and_go)
{
	struct target on = self;
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_reading r[3];
	uint64_t before = 0;

	on.inherit = true;

	struct counters *c = open_or_skip(three, 3, &on);
	pid_t pid;

	source_perf.start(c, NULL);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 200; i++) {
			pid_t child = fork();

			if (child == 0)
				_exit(0);
			waitpid(child, NULL, 0);
		}
		_exit(0);
	}
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (!CHECK(source_perf.read(c, r, &err) == 0, "%s", err.what))
			break;
		CHECK(r[1].raw >= before, "page-faults went back from %llu to %llu",
		      (unsigned long long)before, (unsigned long long)r[1].raw);
		before = r[1].raw;
	}
	source_perf.close(c);
}

TEST(enable_on_exec_counts_from_the_exec_on)
{
	int gate[2];
	char byte = 0;
	struct tare_reading r[3];
	struct target on = self;

	CHECK_EQ(pipe2(gate, O_CLOEXEC), 0);

	pid_t pid = fork();

	if (pid == 0) {
		if (read(gate[0], &byte, 1) == 1) {
			touch_pages(5000); /* before the exec: not counted */
			execl("/bin/true", "true", (char *)NULL);
		}
		_exit(1);
	}
	on.pid = pid;
	on.enable_on_exec = true;
	on.inherit = true;

	struct counters *c = open_or_skip(three, 3, &on);

	CHECK_EQ(write(gate[1], &byte, 1), 1);
	waitpid(pid, NULL, 0);
	CHECK_EQ(source_perf.read(c, r, NULL), 0);
	CHECK(r[1].raw > 5 && r[1].raw < 5000, "page-faults of true: %llu",
	      (unsigned long long)r[1].raw);
	CHECK(r[0].raw > 0);
	source_perf.close(c);
}

TEST(counts_a_cpu)
{
	struct target on = { .pid = -1, .cpu = 0, .cgroup_fd = -1 };
	static const struct encoding clock = SOFTWARE("cpu-clock", PERF_COUNT_SW_CPU_CLOCK);
	const struct encoding *one = &clock;
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_reading r;
	struct counters *c = NULL;

	if (source_perf.open(&c, &one, 1, &on, NULL, &err) < 0)
		tap_skip("perf_cpu", "%s (%s)", err.what, err.hint);
	source_perf.start(c, NULL);
	usleep(20000);
	source_perf.stop(c, NULL);
	CHECK_EQ(source_perf.read(c, &r, NULL), 0);
	CHECK(r.raw >= 19000000 && r.raw < 20000000000u, "cpu-clock %llu ns in 20 ms",
	      (unsigned long long)r.raw);
	source_perf.close(c);
}

static size_t count_entries(const char *dir)
{
	size_t n = 0;
	DIR *d = opendir(dir);

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static size_t count_maps(void)
{
	size_t n = 0;
	char *text = NULL;

	if (file_read(NULL, "/proc/self/maps", 1 << 20, &text, NULL, NULL) == 0)
		for (const char *p = text; *p; p++)
			n += *p == '\n';
	free(text);
	return n;
}

TEST(many_groups_leak_nothing)
{
	struct counters *c = open_or_skip(three, 3, &self);

	source_perf.close(c);

	size_t fds = count_entries("/proc/self/fd"), maps = count_maps();

	for (int i = 0; i < 300; i++) {
		c = open_or_skip(three, 3, &self);
		source_perf.start(c, NULL);
		source_perf.close(c);
	}
	CHECK_EQ(count_entries("/proc/self/fd"), fds);
	/* A leak would be one mapping per round; a sanitizer's own memory varies. */
	CHECK(count_maps() < maps + 100, "%zu mappings, before %zu", count_maps(), maps);
	source_perf.close(NULL);
}

TEST(a_failed_open_leaks_nothing_and_names_the_event)
{
	static const struct encoding bad = SOFTWARE("no-such-event", 999);
	static const struct encoding *const list[] = { &task_clock, &page_faults, &bad };
	struct tare_error err = TARE_ERROR_INIT;
	struct counters *c = NULL;
	size_t failed = 9, fds = count_entries("/proc/self/fd");
	int ret = source_perf.open(&c, list, 3, &self, &failed, &err);

	CHECK(ret < 0);
	CHECK_EQ(failed, 2);
	CHECK_EQ(err.code, -ret);
	CHECK(strstr(err.what, "no-such-event"), "%s", err.what);
	CHECK(err.hint[0], "no hint");
	CHECK_EQ(count_entries("/proc/self/fd"), fds);
	CHECK(c == NULL);
}

TEST(a_thread_that_is_gone)
{
	struct target on = self;
	const struct encoding *one = &task_clock;
	struct tare_error err = TARE_ERROR_INIT;
	struct counters *c = NULL;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	on.pid = pid;
	CHECK_EQ(source_perf.open(&c, &one, 1, &on, NULL, &err), -ESRCH);
	CHECK(strstr(err.what, "task-clock") && strstr(err.what, "no thread"), "%s", err.what);
}

TEST(no_descriptor_left)
{
	struct rlimit lim;
	struct tare_error err = TARE_ERROR_INIT;
	struct counters *c = open_or_skip(three, 1, &self), *more = NULL;
	size_t failed = 9;
	int next = dup(0);

	getrlimit(RLIMIT_NOFILE, &lim);
	close(next);
	lim.rlim_cur = (rlim_t)next + 2; /* room for two of three */
	setrlimit(RLIMIT_NOFILE, &lim);
	CHECK_EQ(source_perf.open(&more, three, 3, &self, &failed, &err), -EMFILE);
	CHECK_EQ(failed, 2);
	CHECK(strstr(err.what, "context-switches"), "%s", err.what);
	CHECK(strstr(err.hint, "ulimit -n"), "%s", err.hint);
	source_perf.close(c);
}

TEST(sizes_of_groups)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct counters *c = NULL;

	CHECK_EQ(source_perf.open(&c, three, 0, &self, NULL, &err), -EINVAL);
	CHECK_EQ(source_perf.open(&c, three, 257, &self, NULL, &err), -EINVAL);
}

/* The meaning of each errno, independent of this machine. */
static const struct {
	int line;
	int code;
	uint32_t type;
	pid_t pid;
	int cpu;
	size_t index;
	const char *what, *hint;
} reasons[] = {
	{ __LINE__, ENOENT, PERF_TYPE_HARDWARE, 0, -1, 0, "no PMU of this machine counts it",
	  "tare doctor" },
	{ __LINE__, ENOENT, PERF_TYPE_SOFTWARE, 0, -1, 0, "no such event", "tare doctor" },
	{ __LINE__, EMFILE, PERF_TYPE_SOFTWARE, 0, -1, 0, "file descriptors are in use",
	  "ulimit -n" },
	{ __LINE__, ENFILE, PERF_TYPE_SOFTWARE, 0, -1, 0, "no file descriptor left",
	  "fs.file-max" },
	{ __LINE__, ESRCH, PERF_TYPE_SOFTWARE, 77, -1, 0, "no thread 77", "ended" },
	{ __LINE__, EINVAL, PERF_TYPE_HARDWARE, 0, -1, 7, "does not fit into the group", ":W" },
	{ __LINE__, EINVAL, PERF_TYPE_HARDWARE, 0, -1, 0, "for this thread",
	  "tare events explain" },
	{ __LINE__, EINVAL, PERF_TYPE_HARDWARE, -1, -1, 0, "name a CPU", "" },
	{ __LINE__, EOPNOTSUPP, PERF_TYPE_RAW, 9, -1, 0, "for thread 9", "tare doctor" },
	{ __LINE__, ENODEV, PERF_TYPE_RAW, -1, 5, 0, "cpu 5 is not online", "tare doctor" },
	{ __LINE__, ENOSPC, PERF_TYPE_BREAKPOINT, 0, 3, 0, "this thread on cpu 3", "breakpoint" },
	{ __LINE__, ENOSYS, PERF_TYPE_SOFTWARE, 0, -1, 0, "no perf_event_open", "seccomp" },
	{ __LINE__, EBUSY, PERF_TYPE_RAW, 0, -1, 0, "another program", "tare doctor" },
	{ __LINE__, E2BIG, PERF_TYPE_RAW, 0, -1, 0, "too old", "5.10" },
	{ __LINE__, ENOMEM, PERF_TYPE_RAW, 0, -1, 0, "out of memory", "" },
	{ __LINE__, EACCES, PERF_TYPE_RAW, -1, 2, 0, "every task on cpu 2: permission denied",
	  "kernel.perf_event_paranoid" },
	{ __LINE__, EIO, PERF_TYPE_RAW, 0, -1, 0, "Input/output error", "" },
};

TEST(reasons_name_event_target_and_knob)
{
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		struct encoding enc = { .name = "some-event", .attr = { .type = reasons[i].type } };
		struct target on = { .pid = reasons[i].pid,
				     .cpu = reasons[i].cpu,
				     .cgroup_fd = -1 };
		struct perf_ask ask = { &enc, &enc.attr, &on, reasons[i].index, 8 };
		struct tare_error err = TARE_ERROR_INIT;

		CHECK_EQ(perf_why(&err, reasons[i].code, &ask), -reasons[i].code, "row at line %d",
			 reasons[i].line);
		CHECK_EQ(err.code, reasons[i].code, "row at line %d", reasons[i].line);
		CHECK(strstr(err.what, "some-event"), "line %d: %s", reasons[i].line, err.what);
		CHECK(strstr(err.what, reasons[i].what), "line %d: %s", reasons[i].line, err.what);
		CHECK(strstr(err.hint, reasons[i].hint), "line %d: %s", reasons[i].line, err.hint);
		CHECK(reasons[i].hint[0] || !err.hint[0], "line %d: %s", reasons[i].line, err.hint);
	}
}

static const struct {
	int line;
	uint32_t type;
	bool user_only;
	pid_t pid;
	int cgroup_fd;
	int level;
	uint64_t sample_type;
} levels[] = {
	{ __LINE__, PERF_TYPE_HARDWARE, true, 0, -1, 2 },
	{ __LINE__, PERF_TYPE_HARDWARE, false, 0, -1, 1 },
	{ __LINE__, PERF_TYPE_HARDWARE, true, -1, -1, 0 },
	{ __LINE__, PERF_TYPE_HARDWARE, true, 0, 7, 0 },
	{ __LINE__, PERF_TYPE_TRACEPOINT, true, 0, -1, -1, PERF_SAMPLE_RAW },
	{ __LINE__, PERF_TYPE_TRACEPOINT, true, 0, -1, 2 },
	{ __LINE__, PERF_TYPE_TRACEPOINT, false, 0, -1, 1, PERF_SAMPLE_IP },
	{ __LINE__, PERF_TYPE_TRACEPOINT, false, -1, -1, 0 },
	{ __LINE__, PERF_TYPE_SOFTWARE, false, 12, -1, 1 },
};

TEST(paranoid_levels)
{
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		struct perf_event_attr attr = { .type = levels[i].type,
						.exclude_kernel = levels[i].user_only,
						.sample_type = levels[i].sample_type };
		struct target on = { .pid = levels[i].pid,
				     .cpu = -1,
				     .cgroup_fd = levels[i].cgroup_fd };

		CHECK_EQ(perf_paranoid_for(&attr, &on), levels[i].level, "row at line %d",
			 levels[i].line);
	}
}

enum { NO_USER = 1, NO_KERNEL = 2, NO_GUEST = 4, NO_HOST = 8, NO_IDLE = 16, NO_HV = 32 };

#define SW(what) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##what
#define TP       PERF_TYPE_TRACEPOINT, 77

/*
 * How it is used: a count alone; samples; samples with their group's counts; a count of a whole
 * CPU.
 */
enum use { COUNT, SAMPLE, READ, CPU };

static const struct {
	int line;
	uint32_t type;
	uint64_t config;
	bool in_user;
	enum use use;
	unsigned left_out;
	const char *why; /* NULL: it is counted as requested */
} modes[] = {
	/* PMUs refuse unsupported modes themselves */
	/* only the hypervisor */
	{ __LINE__, PERF_TYPE_HARDWARE, 0, false, COUNT, NO_USER | NO_KERNEL, NULL },
	{ __LINE__, PERF_TYPE_HARDWARE, 0, false, COUNT, NO_USER | NO_KERNEL | NO_HV, "stay 0" },
	{ __LINE__, PERF_TYPE_RAW, 0x1c2, false, COUNT, NO_KERNEL | NO_HOST, NULL },
	/* clocks: samples only */
	{ __LINE__, SW(TASK_CLOCK), false, COUNT, 0, NULL },
	{ __LINE__, SW(TASK_CLOCK), false, COUNT, NO_KERNEL, "count both" },
	{ __LINE__, SW(CPU_CLOCK), false, COUNT, NO_KERNEL, "count both" },
	{ __LINE__, SW(CPU_CLOCK), false, COUNT, NO_USER, "count both" },
	{ __LINE__, SW(TASK_CLOCK), false, COUNT, NO_USER | NO_KERNEL, "count both" },
	{ __LINE__, SW(TASK_CLOCK), false, COUNT, NO_HOST, "count both" },
	{ __LINE__, SW(TASK_CLOCK), false, COUNT, NO_GUEST, "count both" },
	{ __LINE__, SW(CPU_CLOCK), false, CPU, NO_IDLE, "count both" },
	{ __LINE__, SW(CPU_CLOCK), false, SAMPLE, NO_KERNEL, NULL },
	{ __LINE__, SW(TASK_CLOCK), false, SAMPLE, NO_USER, NULL },
	{ __LINE__, SW(TASK_CLOCK), false, SAMPLE, NO_IDLE, NULL },
	{ __LINE__, SW(TASK_CLOCK), false, READ, NO_KERNEL, "count both" },
	{ __LINE__, SW(CPU_CLOCK), false, SAMPLE, NO_USER | NO_KERNEL, "no samples" },
	{ __LINE__, SW(CPU_CLOCK), false, SAMPLE, NO_HOST, "the host's" },
	/* each event with the mode in which it occurred */
	{ __LINE__, SW(PAGE_FAULTS), false, COUNT, NO_KERNEL, NULL },
	{ __LINE__, SW(PAGE_FAULTS_MIN), false, COUNT, NO_USER, NULL },
	{ __LINE__, SW(ALIGNMENT_FAULTS), false, COUNT, NO_KERNEL, NULL },
	{ __LINE__, SW(EMULATION_FAULTS), false, COUNT, NO_USER, NULL },
	{ __LINE__, SW(DUMMY), false, SAMPLE, NO_KERNEL, NULL },
	{ __LINE__, SW(PAGE_FAULTS), false, COUNT, NO_USER | NO_KERNEL, "stay 0" },
	{ __LINE__, SW(PAGE_FAULTS), false, COUNT, NO_GUEST, NULL },
	{ __LINE__, SW(PAGE_FAULTS), false, SAMPLE, NO_HOST, "the host's" },
	{ __LINE__, SW(PAGE_FAULTS), false, CPU, NO_IDLE, "the idle task's" },
	{ __LINE__, SW(PAGE_FAULTS), false, COUNT, NO_IDLE, NULL },
	{ __LINE__, PERF_TYPE_HARDWARE, 0, false, CPU, NO_IDLE, NULL },
	{ __LINE__, PERF_TYPE_BREAKPOINT, 0, false, COUNT, NO_KERNEL, NULL },
	{ __LINE__, PERF_TYPE_BREAKPOINT, 0, false, COUNT, NO_HOST, "the host's" },
	/* occurs in the kernel */
	{ __LINE__, SW(CONTEXT_SWITCHES), false, COUNT, NO_KERNEL, "happens in the kernel" },
	{ __LINE__, SW(CPU_MIGRATIONS), false, SAMPLE, NO_KERNEL, "happens in the kernel" },
	{ __LINE__, SW(CGROUP_SWITCHES), false, CPU, NO_KERNEL, "happens in the kernel" },
	{ __LINE__, SW(CONTEXT_SWITCHES), false, COUNT, NO_USER, NULL },
	{ __LINE__, TP, false, COUNT, NO_KERNEL, "happens in the kernel" },
	{ __LINE__, TP, false, SAMPLE, NO_KERNEL, "happens in the kernel" },
	{ __LINE__, TP, false, COUNT, NO_USER, NULL },
	{ __LINE__, TP, false, CPU, NO_HOST, "the host's" },
	/* system calls and uprobes */
	{ __LINE__, TP, true, COUNT, NO_KERNEL, NULL },
	{ __LINE__, TP, true, COUNT, NO_USER, "occurs in user mode" },
	{ __LINE__, TP, true, SAMPLE, NO_USER, "occurs in user mode" },
	{ __LINE__, TP, true, COUNT, NO_USER | NO_KERNEL, "occurs in user mode" },
	/* records, and no count */
	{ __LINE__, SW(BPF_OUTPUT), false, COUNT, 0, "has no count" },
	{ __LINE__, SW(BPF_OUTPUT), false, SAMPLE, 0, NULL },
};

TEST(modifiers_that_the_kernel_would_not_follow)
{
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		const unsigned out = modes[i].left_out;
		struct encoding e = { .name = "x:u",
				      .source = &source_perf,
				      .in_user = modes[i].in_user,
				      .attr = { .type = modes[i].type,
						.config = modes[i].config,
						.exclude_user = !!(out & NO_USER),
						.exclude_kernel = !!(out & NO_KERNEL),
						.exclude_hv = !!(out & NO_HV),
						.exclude_guest = !!(out & NO_GUEST),
						.exclude_host = !!(out & NO_HOST),
						.exclude_idle = !!(out & NO_IDLE) } };
		const struct target on = { .pid = modes[i].use == CPU ? -1 : 0,
					   .cpu = modes[i].use == CPU ? 0 : -1,
					   .cgroup_fd = -1 };
		struct perf_event_attr attr = e.attr;
		struct tare_error err = TARE_ERROR_INIT;
		int ret;

		attr.sample_period = modes[i].use == SAMPLE || modes[i].use == READ;
		attr.sample_type = modes[i].use == READ ? PERF_SAMPLE_READ : 0;
		ret = perf_modes_fail(&(struct perf_ask){ &e, &attr, &on, 0, 1 }, &err);
		CHECK_EQ(ret, modes[i].why ? -EINVAL : 0, "row at line %d: %s", modes[i].line,
			 err.what);
		if (!modes[i].why)
			continue;
		CHECK(!strncmp(err.what, "x:u ", 4) && strstr(err.what, modes[i].why),
		      "row at line %d: %s", modes[i].line, err.what);
		CHECK(err.hint[0], "row at line %d", modes[i].line);
	}
}

/* How often the kernel counts `config` in 50 calls of getppid. */
static uint64_t calls_counted(uint64_t config, unsigned left_out)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT,
					.size = sizeof(attr),
					.config = config,
					.disabled = 1,
					.exclude_user = !!(left_out & NO_USER),
					.exclude_kernel = !!(left_out & NO_KERNEL) };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	uint64_t n = UINT64_MAX;

	if (fd < 0)
		tap_skip("perf", "a tracepoint cannot be opened: %s", strerror(errno));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 50; i++)
		syscall(SYS_getppid);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	CHECK_EQ(read(fd, &n, sizeof(n)), sizeof(n));
	close(fd);
	return n;
}

/* Compares encoding_modes() for tracepoints with this kernel. */
TEST(tracepoints_come_with_user_mode_or_without)
{
	static const char *const path[] = {
		"/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id",
		"/sys/kernel/tracing/events/raw_syscalls/sys_enter/id"
	};
	uint64_t id[2];
	char text[32];

	for (int i = 0; i < 2; i++) {
		if (file_line(NULL, path[i], text, sizeof(text), NULL) < 0)
			tap_skip("tracefs", "%s cannot be read", path[i]);
		id[i] = strtoull(text, NULL, 10);
	}
	CHECK_EQ(calls_counted(id[0], 0), 50);
	CHECK_EQ(calls_counted(id[0], NO_KERNEL), 50);
	CHECK_EQ(calls_counted(id[0], NO_USER), 50, "which no number can be trusted to leave out");
	CHECK(calls_counted(id[1], 0) >= 50);
	CHECK_EQ(calls_counted(id[1], NO_KERNEL), 0);
}

/* A clock without modifiers can be opened by users who may not count the kernel. */
TEST(a_clock_is_open_to_all)
{
	const struct encoding *one = &task_clock;
	struct tare_reading r;
	struct counters *c;
	char now[32];

	if (file_line(NULL, "/proc/sys/kernel/perf_event_paranoid", now, sizeof(now), NULL) < 0 ||
	    atoi(now) != 2)
		tap_skip("paranoid", "kernel.perf_event_paranoid is not 2");
	if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
		tap_skip("root", "cannot become an unprivileged user");
	c = open_or_skip(&one, 1, &self);
	CHECK(source_perf.start(c, NULL) == 0 && source_perf.read(c, &r, NULL) == 0 && r.raw > 0 &&
	      r.quality == TARE_COUNTED);
	source_perf.close(c);
}

/*
 * The error for an unprivileged user has the required value of the knob, and that value is right.
 */
TEST(permission_hint_is_true)
{
	static const struct encoding kernel_too = SOFTWARE("cpu-clock", PERF_COUNT_SW_CPU_CLOCK);
	const struct encoding *one = &kernel_too;
	struct target on = { .pid = -1, .cpu = 0, .cgroup_fd = -1 };
	struct tare_error err = TARE_ERROR_INIT;
	struct counters *c = NULL;
	char now[32];

	if (file_line(NULL, "/proc/sys/kernel/perf_event_paranoid", now, sizeof(now), NULL) < 0 ||
	    atoi(now) < 1)
		tap_skip("paranoid", "kernel.perf_event_paranoid is below 1 or unknown");
	if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
		tap_skip("root", "cannot become an unprivileged user");
	CHECK_EQ(source_perf.open(&c, &one, 1, &on, NULL, &err), -EACCES);
	CHECK(strstr(err.what, "cpu-clock for every task on cpu 0"), "%s", err.what);

	char want[64];

	snprintf(want, sizeof(want), "kernel.perf_event_paranoid is %d; 0 ", atoi(now));
	CHECK(strstr(err.hint, want), "%s", err.hint);
}

TEST_MAIN()
