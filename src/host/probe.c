/* SPDX-License-Identifier: MIT */
/*
 * Does counting work, here, for this user? A successful open is not enough: on some machines events
 * stay at zero, freeze, or run at an impossible rate. So every event counts work of a size known by
 * construction, with a descriptor of its own, and the count is compared with it.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/cpus.h"
#include "host/probe.h"

enum {
	PAGES = 64,
	SWITCHES = 3,
	SYSTEM_CALLS = 500,
	ROUNDS = 3,        /* one disturbed measurement is not conclusive */
	COUNTERS_MAX = 32, /* more than any core PMU has */
};

/* The event rate of any core is within these bounds, in events per ns of its time. */
#define SLOWEST_PER_NS 0.01
#define FASTEST_PER_NS 10

struct count {
	uint64_t value, enabled_ns, running_ns; /* the layout of read(2) with both times */
};

static int open_event(struct perf_event_attr *attr, int cpu)
{
	attr->size = sizeof(*attr);
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return (int)syscall(SYS_perf_event_open, attr, cpu < 0 ? 0 : -1, cpu, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static bool read_event(int fd, struct count *c)
{
	return read(fd, c, sizeof(*c)) == sizeof(*c);
}

static uint64_t thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * Each function fills count, low and high: the count, and bounds of the correct count. False if the
 * counter cannot be read.
 */
typedef bool work_fn(int fd, struct attempt *a);

static bool work_instructions(int fd, struct attempt *a)
{
	struct count c[3];

	for (int i = 0; i < 3; i++) {
		if (i)
			cpu_loop((uint64_t)i * PROBE_TURNS);
		if (!read_event(fd, &c[i]))
			return false;
	}
	probe_loop_bounds(a, c[1].value - c[0].value, c[2].value - c[1].value);
	return true;
}

static bool work_rate(int fd, struct attempt *a)
{
	struct count before, after;
	uint64_t began = thread_ns();

	if (!read_event(fd, &before))
		return false;
	cpu_loop(2 * PROBE_TURNS);
	if (!read_event(fd, &after))
		return false;

	uint64_t ns = thread_ns() - began;

	a->count = after.value - before.value;
	a->low = (uint64_t)((double)ns * SLOWEST_PER_NS);
	a->high = ns * FASTEST_PER_NS;
	return true;
}

/* A system call takes between about ten and some thousand instructions in the kernel. */
static bool work_system_calls(int fd, struct attempt *a)
{
	struct count before, after;

	if (!read_event(fd, &before))
		return false;
	for (int i = 0; i < SYSTEM_CALLS; i++)
		syscall(SYS_getppid);
	if (!read_event(fd, &after))
		return false;
	a->count = after.value - before.value;
	a->low = SYSTEM_CALLS * 10;
	a->high = SYSTEM_CALLS * UINT64_C(1000000);
	return true;
}

/* A clock event counts ns: of this thread, or of the CPU, which is at least our own time on it. */
static bool work_clock(int fd, struct attempt *a)
{
	struct count before, after;
	struct timespec wall[2];
	uint64_t began = thread_ns();

	clock_gettime(CLOCK_MONOTONIC, &wall[0]);
	if (!read_event(fd, &before))
		return false;
	cpu_loop(2 * PROBE_TURNS);

	uint64_t ns = thread_ns() - began;

	if (!read_event(fd, &after))
		return false;
	clock_gettime(CLOCK_MONOTONIC, &wall[1]);
	a->count = after.value - before.value;
	a->low = ns / 2;
	a->high = 2 *
		((uint64_t)(wall[1].tv_sec - wall[0].tv_sec) * 1000000000 +
		 (uint64_t)(wall[1].tv_nsec - wall[0].tv_nsec));
	return true;
}

/* Every page of a fresh mapping faults once, at its first write. */
static bool work_faults(int fd, struct attempt *a)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *fresh = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	struct count before, after;

	if (fresh == MAP_FAILED)
		return false;
	madvise(fresh, PAGES * page, MADV_NOHUGEPAGE);

	bool ok = read_event(fd, &before);

	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)fresh)[i * page] = 1;
	ok = ok && read_event(fd, &after);
	munmap(fresh, PAGES * page);
	if (!ok)
		return false;
	a->count = after.value - before.value;
	a->low = PAGES;
	a->high = PAGES + 16; /* the pages of this code and stack, when not yet loaded */
	return true;
}

/* A sleeping thread causes a context switch. */
static bool work_switches(int fd, struct attempt *a)
{
	const struct timespec moment = { 0, 1000 };
	struct count before, after;

	if (!read_event(fd, &before))
		return false;
	for (int i = 0; i < SWITCHES; i++)
		nanosleep(&moment, NULL);
	if (!read_event(fd, &after))
		return false;
	a->count = after.value - before.value;
	a->low = SWITCHES;
	a->high = 1000; /* on a busy machine other tasks use the CPU, too */
	return true;
}

static enum outcome judge(const struct attempt *a)
{
	if (a->running_ns == 0)
		return OUTCOME_OFF;
	if (a->count == 0)
		return OUTCOME_ZERO;
	if (a->running_ns < a->enabled_ns)
		return OUTCOME_SHARED;
	return a->count < a->low || a->count > a->high ? OUTCOME_WRONG : OUTCOME_COUNTED;
}

static struct attempt try_once(struct perf_event_attr attr, int cpu, work_fn *work)
{
	struct attempt a = { .outcome = OUTCOME_REFUSED };
	struct count times;
	int fd = open_event(&attr, cpu);

	if (fd < 0) {
		a.code = errno;
		return a;
	}
	if (!work(fd, &a) || !read_event(fd, &times)) {
		a.outcome = OUTCOME_OFF;
	} else {
		a.enabled_ns = times.enabled_ns;
		a.running_ns = times.running_ns;
		a.outcome = judge(&a);
	}
	close(fd);
	return a;
}

static struct attempt try_event(struct perf_event_attr attr, int cpu, work_fn *work)
{
	struct attempt a = try_once(attr, cpu, work);

	for (int i = 1; i < ROUNDS && a.outcome != OUTCOME_COUNTED && a.outcome != OUTCOME_REFUSED;
	     i++)
		a = try_once(attr, cpu, work);
	return a;
}

/* Hybrid machines name the PMU in the upper half of a generic event. */
static struct perf_event_attr hardware(uint64_t event, long pmu_type)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.config = event | (uint64_t)pmu_type << PERF_PMU_TYPE_SHIFT,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

/*
 * Pin events of one kind until one no longer fits; such an event goes into error state and cannot
 * be read. `held` keeps them open. perf_event_open(2), "pinned".
 */
static unsigned fill(int *held, unsigned n, uint64_t event, long pmu_type, unsigned most)
{
	unsigned fitted = 0;

	while (fitted < most && n + fitted < COUNTERS_MAX) {
		struct perf_event_attr attr = hardware(event, pmu_type);
		struct count c;

		attr.pinned = 1;

		int fd = open_event(&attr, -1);

		if (fd < 0)
			break;
		cpu_loop(1000);
		if (!read_event(fd, &c) || c.running_ns == 0) {
			close(fd);
			break;
		}
		held[n + fitted++] = fd;
	}
	return fitted;
}

/*
 * The number of counters available to this user: copies of an event that any programmable counter
 * supports, and in addition events with fixed counters.
 */
static void count_counters(struct core_pmu *pmu, long pmu_type)
{
	static const uint64_t own[] = { PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES,
					PERF_COUNT_HW_REF_CPU_CYCLES };
	int held[COUNTERS_MAX];
	unsigned n;

	n = fill(held, 0, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, pmu_type, COUNTERS_MAX);
	if (n == 0)
		n = fill(held, 0, PERF_COUNT_HW_INSTRUCTIONS, pmu_type, COUNTERS_MAX);
	pmu->programmable = n;
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		n += fill(held, n, own[i], pmu_type, 1);
	pmu->fixed = n - pmu->programmable;
	while (n)
		close(held[--n]);
}

/* Bind this thread to the CPUs of one PMU. False if that is not permitted. */
static bool move_to(const char *list, cpu_set_t *before)
{
	struct cpus cpus = { 0 };
	cpu_set_t its;

	if (cpus_parse(list, &cpus, NULL) < 0)
		return false;
	CPU_ZERO(&its);
	for (size_t i = 0; i < cpus.n; i++)
		if (cpus.cpu[i] < CPU_SETSIZE)
			CPU_SET(cpus.cpu[i], &its);
	cpus_free(&cpus);
	return sched_getaffinity(0, sizeof(*before), before) == 0 &&
		sched_setaffinity(0, sizeof(its), &its) == 0;
}

/*
 * `tries` receives the attempts on the first PMU; NULL for the others. `type` selects the PMU on a
 * hybrid machine; otherwise 0.
 */
static void probe_hardware(struct core_pmu *pmu, long type, struct attempt *tries)
{
	struct perf_event_attr attr = hardware(PERF_COUNT_HW_INSTRUCTIONS, type);

	pmu->instructions = try_event(attr, -1, work_instructions);
	pmu->cycles = try_event(hardware(PERF_COUNT_HW_CPU_CYCLES, type), -1, work_rate);
	count_counters(pmu, type);
	if (!tries)
		return;
	tries[TRY_INSTRUCTIONS] = pmu->instructions;
	tries[TRY_CYCLES] = pmu->cycles;
	tries[TRY_USER_READ] = probe_user_read(attr);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	tries[TRY_KERNEL] = try_event(attr, -1, work_system_calls);
}

static void probe_software(struct attempt *tries)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.exclude_kernel = 1,
					.exclude_hv = 1 };
	int here = sched_getcpu();

	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	tries[TRY_TASK_CLOCK] = try_event(attr, -1, work_clock);
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	tries[TRY_FAULTS] = try_event(attr, -1, work_faults);
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	if (here >= 0)
		tries[TRY_CPU_WIDE] = try_event(attr, here, work_clock);
	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr.exclude_kernel = 0;
	tries[TRY_SWITCHES] = try_event(attr, -1, work_switches);
}

void host_probe(struct host *h)
{
	struct core_pmu none = { 0 }, *first = h->pmus ? &h->pmu[0] : &none;
	bool hybrid = h->pmus > 1;
	cpu_set_t before;

	probe_software(h->tries);
	for (struct core_pmu *pmu = first; pmu == first || pmu < h->pmu + h->pmus; pmu++) {
		if (hybrid && !move_to(pmu->cpus, &before))
			continue; /* may not run on these CPUs: reported as untried */
		probe_hardware(pmu, hybrid ? pmu->type : 0, pmu == first ? h->tries : NULL);
		if (hybrid)
			sched_setaffinity(0, sizeof(before), &before);
	}
}
