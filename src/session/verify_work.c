/* SPDX-License-Identifier: MIT */
/*
 * The work: a loop of two instructions, one of them a taken branch, of several lengths, 1 turn among them: what comes
 * around it is the same for all; and pages touched for
 * the first time, against the same pages touched again. Each several times, in turns, so that what disturbs one moment does
 * not disturb one kind of work.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "arch/cpu.h"
#include "session/verify_work.h"

enum { ROUNDS = 6, PAGES_MOST = 64, COLUMNS_MOST = 4096 };

/* What the event is known to count of these. */
enum counts { COUNTS_UNKNOWN, COUNTS_INSTRUCTIONS, COUNTS_BRANCHES, COUNTS_FAULTS };

/* Raw codes: Arm ARM, "PMU events": INST_RETIRED, BR_RETIRED; Intel SDM 3B, "Architectural Performance Events". */
static const struct {
	uint32_t type;
	uint64_t config;
	enum counts counts;
} known[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, COUNTS_INSTRUCTIONS },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, COUNTS_BRANCHES },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, COUNTS_FAULTS },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, COUNTS_FAULTS },
#ifdef __aarch64__
	{ PERF_TYPE_RAW, 0x08, COUNTS_INSTRUCTIONS },
	{ PERF_TYPE_RAW, 0x21, COUNTS_BRANCHES },
#else
	{ PERF_TYPE_RAW, 0xc0, COUNTS_INSTRUCTIONS },
	{ PERF_TYPE_RAW, 0xc4, COUNTS_BRANCHES },
#endif
};

static const uint64_t turns[] = { 1, 1000, 20000, 400000, 2000000 };
static const uint64_t pages[] = { 16, 48 };

static enum counts counts_of(const struct encoding *e)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].type == e->attr.type && known[i].config == (e->attr.config & UINT32_MAX))
			return known[i].counts;
	return COUNTS_UNKNOWN;
}

/* All interrupts of a CPU until now: its column. Source: proc(5), /proc/interrupts. */
static bool interrupts_of(int cpu, uint64_t *out)
{
	FILE *f = fopen("/proc/interrupts", "re");
	char *line = NULL, *p, name[16];
	size_t room = 0;
	int column = -1, n = 0;

	*out = 0;
	if (!f)
		return false;
	snprintf(name, sizeof(name), "CPU%d", cpu);
	if (getline(&line, &room, f) > 0)
		for (p = strtok(line, " \n"); p && n < COLUMNS_MOST; p = strtok(NULL, " \n"), n++)
			if (!strcmp(p, name))
				column = n;
	while (column >= 0 && getline(&line, &room, f) > 0) {
		p = strchr(line, ':');
		p = p ? p + 1 : line;
		for (int i = 0; i <= column; i++) {
			char *end;
			unsigned long long v = strtoull(p, &end, 10);

			if (end == p)
				break;
			p = end;
			*out += i == column ? v : 0;
		}
	}
	free(line);
	fclose(f);
	return column >= 0;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void touch(volatile char *memory, uint64_t n, size_t page)
{
	for (uint64_t i = 0; i < n; i++)
		memory[i * page] = 1;
}

struct work {
	const struct source *source;
	struct counters *counters;
	int cpu;
	bool interrupts_known;
	size_t page;
};

/* Count one piece: `memory` NULL: so many turns of the loop, else so many pages. */
static int count_one(struct work *w, volatile char *memory, uint64_t n, struct verify_sample *s, struct tare_error *err)
{
	struct tare_reading a, b;
	uint64_t before = 0, after = 0, began;
	int ret;

	if (w->interrupts_known)
		interrupts_of(w->cpu, &before);
	began = now_ns();
	ret = w->source->read(w->counters, &a, err);
	if (ret < 0)
		return ret;
	if (memory)
		touch(memory, n, w->page);
	else
		cpu_loop(n);
	ret = w->source->read(w->counters, &b, err);
	if (ret < 0)
		return ret;
	*s = (struct verify_sample){ .length = n,
				     .count = b.raw - a.raw,
				     .ns = now_ns() - began,
				     .enabled_ns = b.enabled_ns - a.enabled_ns,
				     .running_ns = b.running_ns - a.running_ns };
	if (w->interrupts_known && interrupts_of(w->cpu, &after))
		s->interrupts = after - before;
	return 0;
}

/* Pages that are new, and the same ones again, which tell what else touching them takes. */
static int count_pages(struct work *w, enum counts counts, uint64_t n, struct verify_sample *s, struct tare_error *err)
{
	char *memory = mmap(NULL, PAGES_MOST * w->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct verify_sample again = { 0 };
	int ret;

	if (memory == MAP_FAILED)
		return tare_fail(err, errno, "no memory to touch: %s", strerror(errno));
	madvise(memory, PAGES_MOST * w->page, MADV_NOHUGEPAGE);
	ret = count_one(w, memory, n, s, err);
	if (ret == 0)
		ret = count_one(w, memory, n, &again, err);
	munmap(memory, PAGES_MOST * w->page);
	if (ret < 0)
		return ret;
	s->expects = counts == COUNTS_FAULTS || counts == COUNTS_INSTRUCTIONS || counts == COUNTS_BRANCHES;
	if (counts == COUNTS_FAULTS) {
		s->expected = n;
	} else {
		s->expected = again.count;
		s->faults = n;
		s->by_itself = true;
		s->interrupts += again.interrupts;
	}
	return 0;
}

static int count_all(struct work *w, enum counts counts, struct verify_sample *out, struct tare_error *err)
{
	static const uint64_t per_turn[] = { [COUNTS_INSTRUCTIONS] = CPU_LOOP_INSTRUCTIONS, [COUNTS_BRANCHES] = 1, [COUNTS_FAULTS] = 0 };
	int n = 0, ret = 0;

	for (int round = 0; ret == 0 && round < ROUNDS; round++) {
		for (size_t i = 0; ret == 0 && i < sizeof(turns) / sizeof(*turns); i++, n++) {
			ret = count_one(w, NULL, turns[i], &out[n], err);
			out[n].expects = counts != COUNTS_UNKNOWN;
			out[n].expected = counts != COUNTS_UNKNOWN ? turns[i] * per_turn[counts] : 0;
		}
		for (size_t i = 0; ret == 0 && i < sizeof(pages) / sizeof(*pages); i++) {
			struct verify_sample s;

			ret = count_pages(w, counts, pages[i], &s, err);
			/* Two counts of an event that is wrong say nothing of a third. */
			if (ret == 0)
				out[n++] = s;
		}
	}
	return ret < 0 ? ret : n;
}

int verify_work(struct verify_sample *samples, const struct encoding *event, const struct source *source, bool *interrupts_known,
		struct tare_error *err)
{
	const struct target on = { .cpu = -1, .cgroup_fd = -1 };
	struct work w = { .source = source, .page = (size_t)sysconf(_SC_PAGESIZE) };
	struct verify_sample cold[VERIFY_SAMPLES_MOST];
	cpu_set_t before, one;
	uint64_t unused;
	bool moved;
	int ret;

	if (event->unavailable) {
		tare_fail(err, event->unavailable, "%s", event->why);
		tare_hint(err, "%s", event->remedy);
		return -event->unavailable;
	}
	moved = sched_getaffinity(0, sizeof(before), &before) == 0;
	w.cpu = event->cpus.n ? event->cpus.cpu[0] : sched_getcpu();
	CPU_ZERO(&one);
	CPU_SET(w.cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	w.interrupts_known = interrupts_of(w.cpu, &unused);
	*interrupts_known = w.interrupts_known;
	ret = source->open(&w.counters, &event, 1, &on, NULL, err);
	if (ret == 0) {
		ret = source->start(w.counters, err);
		if (ret == 0)
			ret = count_all(&w, counts_of(event), cold, err); /* code and pages of our own are there then */
		if (ret >= 0)
			ret = count_all(&w, counts_of(event), samples, err);
		source->close(w.counters);
	}
	if (moved)
		sched_setaffinity(0, sizeof(before), &before);
	return ret;
}
