/* SPDX-License-Identifier: MIT */
/*
 * Counters of the kernel: one perf_event_open(2) group, read by one read(2), or without a system
 * call if requested and possible. Takes encodings and a target, gives readings with their quality.
 *
 * The leader is opened disabled and its members enabled, so that one ioctl on the leader starts and
 * stops all of them. Group reads of inherited counters are correct since Linux 4.13. While a child
 * is being created or exits, the kernel returns ECHILD (since 6.6), which passes once that child
 * has run. Source: perf_event_open(2), "Reading results" and "perf_event ioctl calls".
 */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "source/page.h"
#include "source/perf.h"
#include "source/perf_why.h"
#include "source/source.h"

enum {
	GROUP_MAX = 256, /* far above what any PMU counts; bounds the buffer of a read */
	/* then 1 ms each: on a busy machine a child may wait for a CPU during its creation */
	ECHILD_YIELDS = 100,
	ECHILD_TRIES = 2100,
};

struct perf_event {
	int fd;
	uint64_t id;
	struct perf_event_mmap_page *page; /* NULL: read by read(2) only */
};

struct perf_group {
	const struct source *source;
	struct target on;
	char leader[160]; /* names, for messages: the encodings belong to the caller */
	char pmu[64];
	enum pmu_place place;
	/* &this_thread of the thread that opened it: only its registers contain this count */
	const void *owner;
	const char *no_user; /* why its pages are not read; NULL: they are */
	size_t n;
	uint64_t *buffer; /* of a read: { nr, enabled, running, { value, id } [n] } */
	struct perf_event event[];
};

/* Its address identifies the thread, at the cost of two instructions. */
static _Thread_local char this_thread __attribute__((tls_model("initial-exec")));

static int perf_probe(struct tare_error *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
	};
	const struct encoding enc = { .name = "task-clock" };
	const struct target self = { .cpu = -1, .cgroup_fd = -1 };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return perf_why(err, errno, &(struct perf_ask){ &enc, &attr, &self, 0, 1 });
	close(fd);
	return 0;
}

/* The encoding selects the event; this adds how it is counted. */
static struct perf_event_attr attr_of(const struct encoding *enc, const struct target *on,
				      bool leader)
{
	struct perf_event_attr attr = enc->attr;

	attr.size = sizeof(attr);
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
		PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.inherit = on->inherit;
	attr.disabled = leader;
	attr.enable_on_exec = leader && on->enable_on_exec;
	if (!leader)
		attr.pinned = attr.exclusive =
			0; /* the leader's flags apply to the group; EINVAL in a member */
	/* A clock counts the same without restriction, and any user may open it. */
	if (encoding_modes(enc) == MODES_CLOCK) {
		attr.exclude_user = 0;
		attr.exclude_kernel = attr.exclude_hv = 1;
	}
	/* Nothing is sampled here: an overflow would only cost an interrupt. */
	attr.sample_period = 0;
	attr.freq = 0;
	attr.sample_type = 0;
	return attr;
}

static int open_event(struct perf_group *g, size_t i, const struct perf_ask *ask,
		      struct tare_error *err)
{
	const struct target *on = ask->on;
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	pid_t pid = on->pid;
	int ret = perf_modes_fail(ask, err);

	if (ret < 0)
		return ret;
	if (on->cgroup_fd >= 0) {
		flags |= PERF_FLAG_PID_CGROUP;
		pid = on->cgroup_fd;
	}
	g->event[i].fd = (int)syscall(SYS_perf_event_open, ask->attr, pid, on->cpu,
				      i ? g->event[0].fd : -1, flags);
	if (g->event[i].fd < 0)
		return perf_why(err, errno, ask);
	if (ioctl(g->event[i].fd, PERF_EVENT_IOC_ID, &g->event[i].id) < 0)
		return tare_fail(err, errno, "%s: the kernel gave no event id: %s", ask->enc->name,
				 strerror(errno));
	return 0;
}

static void perf_close(struct counters *c)
{
	struct perf_group *g = (struct perf_group *)c;

	if (!g)
		return;
	for (size_t i = g->n; i-- > 0;) {
		/* A mapping keeps a closed event alive, and its counter in use. */
		if (g->event[i].page)
			munmap(g->event[i].page, (size_t)sysconf(_SC_PAGESIZE));
		if (g->event[i].fd >= 0)
			close(g->event[i].fd);
	}
	free(g->buffer);
	free(g);
}

/* Why the thread that opens a group on this target cannot read its pages; NULL if it can. */
static const char *target_without_pages(const struct target *on)
{
	if (!on->user_reads)
		return "it was not opened for reads from user space";
	if (on->inherit)
		return "it also counts children, and only the kernel knows their counts";
	if (on->pid != 0 || on->cpu != -1 || on->cgroup_fd >= 0)
		return "only a thread's own counters are in the registers of its CPU";
	return NULL;
}

static void map_pages(struct perf_group *g)
{
	for (size_t i = 0; i < g->n && !g->no_user; i++) {
		void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED,
				  g->event[i].fd, 0);

		if (page == MAP_FAILED)
			g->no_user = errno == EPERM
				? "no memory may be locked for its page (`ulimit -l`, "
				  "kernel.perf_event_mlock_kb)"
				: "the kernel gave no page for it";
		else
			g->event[i].page = page;
	}
}

int perf_open_wide(struct counters **out, const struct encoding *const *enc, size_t n,
		   const struct target *on, bool wide, size_t *failed, struct tare_error *err)
{
	size_t at = 0;
	int ret = 0;

	if (failed)
		*failed = 0;
	if (n == 0 || n > GROUP_MAX)
		return tare_fail(err, EINVAL, "a group has 1 to %d events, not %zu", GROUP_MAX, n);

	struct perf_group *g = malloc(sizeof(*g) + n * sizeof(g->event[0]));

	if (!g)
		return tare_fail_nomem(err);
	*g = (struct perf_group){
		.source = &source_perf,
		.on = *on,
		.place = enc[0]->place,
		.owner = &this_thread,
		.no_user = target_without_pages(on),
		.n = n,
	};
	memcpy(g->leader, enc[0]->name, sizeof(g->leader));
	memcpy(g->pmu, enc[0]->pmu, sizeof(g->pmu));
	for (size_t i = 0; i < n; i++)
		g->event[i] = (struct perf_event){ .fd = -1 };
	g->buffer = malloc((3 + 2 * n) * sizeof(*g->buffer));
	if (!g->buffer) {
		ret = tare_fail_nomem(err);
		goto fail;
	}
	for (; at < n; at++) {
		struct perf_event_attr attr = attr_of(enc[at], on, at == 0);

		if (!g->no_user && !pmc_ask(&attr, wide))
			g->no_user = "one of its events is not in a register of the cores";
		ret = open_event(g, at, &(struct perf_ask){ enc[at], &attr, on, at, n }, err);
		if (ret < 0)
			goto fail;
	}
	map_pages(g);
	*out = (struct counters *)g;
	return 0;
fail:
	if (failed)
		*failed = at < n ? at : 0;
	perf_close((struct counters *)g);
	return ret;
}

static int perf_open(struct counters **out, const struct encoding *const *enc, size_t n,
		     const struct target *on, size_t *failed, struct tare_error *err)
{
	return perf_open_wide(out, enc, n, on, false, failed, err);
}

size_t perf_size(const struct counters *c)
{
	return ((const struct perf_group *)c)->n;
}

int perf_fd(const struct counters *c, size_t i)
{
	return ((const struct perf_group *)c)->event[i].fd;
}

const char *perf_leader(const struct counters *c)
{
	return ((const struct perf_group *)c)->leader;
}

const struct perf_event_mmap_page *perf_page(const struct counters *c, size_t i)
{
	const struct perf_group *g = (const struct perf_group *)c;

	return g->no_user || g->owner != &this_thread ? NULL : g->event[i].page;
}

bool perf_count(const struct counters *c, size_t i, uint64_t *count)
{
	const struct perf_group *g = (const struct perf_group *)c;

	return i < g->n && !g->no_user && g->owner == &this_thread &&
		tare_page_count(g->event[i].page, count);
}

int perf_user_reads(const struct counters *c, struct tare_error *err)
{
	const struct perf_group *g = (const struct perf_group *)c;
	const char *why = g->owner != &this_thread ? "another thread opened it" : g->no_user;

	if (why)
		return tare_fail(err, EOPNOTSUPP, "%s is read by system calls: %s", g->leader, why);
	for (size_t i = 0; i < g->n; i++) {
		struct perf_event_mmap_page *page = g->event[i].page;
		int ret;

		if (tare_pmc_index_known(page->index))
			continue;
		ret = tare_fail(
			err, page->cap_user_rdpmc ? EAGAIN : EOPNOTSUPP,
			"%s is read by system calls: event %zu of the group is in no register that "
			"user space may read",
			g->leader, i + 1);
		tare_hint(err, "it is stopped or off the PMU, or reading is switched off: %s",
			  PMC_SWITCH_ON);
		return ret;
	}
	return 0;
}

static int perf_start(struct counters *c, struct tare_error *err)
{
	const struct perf_group *g = (const struct perf_group *)c;

	if (ioctl(g->event[0].fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return tare_fail(err, errno, "cannot start %s: %s", g->leader, strerror(errno));
	return 0;
}

static int perf_stop(struct counters *c, struct tare_error *err)
{
	const struct perf_group *g = (const struct perf_group *)c;

	if (ioctl(g->event[0].fd, PERF_EVENT_IOC_DISABLE, 0) < 0)
		return tare_fail(err, errno, "cannot stop %s: %s", g->leader, strerror(errno));
	return 0;
}

static ssize_t read_group(const struct perf_group *g, size_t room)
{
	for (int tries = 0;; tries++) {
		ssize_t got = read(g->event[0].fd, g->buffer, room);

		if (got >= 0)
			return got;
		if (errno == EINTR)
			continue;
		if (errno != ECHILD || tries == ECHILD_TRIES)
			return -errno;
		if (tries < ECHILD_YIELDS)
			sched_yield();
		else
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

/* The value of event i: the kernel lists the leader and its members in order, each with its id. */
static const uint64_t *find_value(const struct perf_group *g, size_t i)
{
	const uint64_t *pair = g->buffer + 3;

	if (pair[2 * i + 1] == g->event[i].id)
		return &pair[2 * i];
	for (size_t k = 0; k < g->n; k++)
		if (pair[2 * k + 1] == g->event[i].id)
			return &pair[2 * k];
	return NULL;
}

static void say_never_ran(const struct perf_group *g, uint64_t enabled_ns, struct tare_error *err)
{
	tare_fail(err, ENODATA, "%s%s never got onto the PMU in %" PRIu64 ".%06" PRIu64 " ms",
		  g->leader, g->n > 1 ? " and its group" : "", enabled_ns / 1000000,
		  enabled_ns % 1000000);
	if (g->place == PLACE_CORE)
		tare_hint(err, "the task did not run on a CPU of %s", g->pmu);
	else if (g->on.pid != -1 && g->on.cpu >= 0)
		tare_hint(err, "the task may not have run on cpu %d", g->on.cpu);
	else
		tare_hint(err,
			  "the group may need more counters than there are, or others hold "
			  "them: count fewer "
			  "events at once; `tare doctor` tells what holds a counter");
}

/* Read the whole group from its pages, or return false. */
static bool read_pages(const struct perf_group *g, struct tare_reading *out)
{
	if (g->no_user || g->owner != &this_thread)
		return false;
	for (size_t i = 0; i < g->n; i++)
		if (!page_reading(g->event[i].page, &page_this_cpu, &out[i]))
			return false;
	return true;
}

/* Fill g->buffer by read(2). */
static int read_kernel(const struct perf_group *g, struct tare_error *err)
{
	size_t want = (3 + 2 * g->n) * sizeof(*g->buffer);
	ssize_t got = read_group(g, want);

	if (got == 0) {
		int ret = tare_fail(err, EIO,
				    "%s: the pinned group lost its counters and counts no more",
				    g->leader);

		tare_hint(err,
			  "another pinned event or a watchdog holds a counter it needs; `tare "
			  "doctor` tells which");
		return ret;
	}
	if (got < 0)
		return tare_fail(err, (int)-got, "cannot read %s: %s", g->leader,
				 strerror((int)-got));
	if ((size_t)got != want || g->buffer[0] != g->n)
		return tare_fail(err, EIO,
				 "%s: a read gave %zd bytes and %" PRIu64
				 " values, not %zu and %zu",
				 g->leader, got, g->buffer[0], want, g->n);
	return 0;
}

/* The reading of event i from g->buffer. */
static int take_reading(const struct perf_group *g, size_t i, struct tare_reading *out,
			struct tare_error *err)
{
	uint64_t enabled = g->buffer[1], running = g->buffer[2];
	const uint64_t *value = find_value(g, i);
	enum tare_quality quality = TARE_COUNTED;

	if (!value)
		return tare_fail(err, EIO, "%s: a read gave no value for event %zu of the group",
				 g->leader, i + 1);
	if (running < enabled)
		quality = running ? TARE_SCALED : TARE_UNAVAILABLE;
	*out = (struct tare_reading){ *value, enabled, running, quality };
	if (quality == TARE_UNAVAILABLE)
		say_never_ran(g, enabled, err);
	return 0;
}

static int perf_read(struct counters *c, struct tare_reading *out, struct tare_error *err)
{
	const struct perf_group *g = (const struct perf_group *)c;

	if (read_pages(g, out))
		return 0;

	int ret = read_kernel(g, err);

	for (size_t i = 0; ret == 0 && i < g->n; i++)
		ret = take_reading(g, i, &out[i], err);
	return ret;
}

int perf_read_one(struct counters *c, size_t i, struct tare_reading *out, struct tare_error *err)
{
	const struct perf_group *g = (const struct perf_group *)c;
	int ret = read_kernel(g, err);

	return ret < 0 ? ret : take_reading(g, i, out, err);
}

const struct source source_perf = {
	.name = "perf",
	.kernel = true,
	.probe = perf_probe,
	.open = perf_open,
	.start = perf_start,
	.stop = perf_stop,
	.read = perf_read,
	.close = perf_close,
};
