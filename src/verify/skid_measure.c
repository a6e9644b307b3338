/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "verify/skid_measure.h"
#include "source/ring.h"

enum { RING = 256 << 10, PAGE = 4096, CLOCK_NS = 200000000, CLOCK_TURNS = 1000 };

/* L1D, read, access. Source: perf_event_open(2), PERF_TYPE_HW_CACHE. */
#define L1D_LOADS                                                                                  \
	(PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 |                              \
	 PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16)

/* Periods are prime. */
const struct skid_event skid_events[] = {
	{ "branches:u", true, SKID_BRANCHES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	  97, 97 * 1000, false },
	{ "L1-dcache-loads:u", true, SKID_LOADS, PERF_TYPE_HW_CACHE, L1D_LOADS, 97, 97 * 1000,
	  false },
	{ "page-faults:u", false, SKID_LOADS, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1,
	  1000, true },
	{ "mem:ADDRESS:rw:u", false, SKID_LOADS, PERF_TYPE_BREAKPOINT, 0, 1, 1000, false },
	{ 0 },
};

struct taking {
	skid_sample_fn *each;
	void *with;
};

static int take_records(void *with, const unsigned char *bytes, size_t n, struct tare_error *err)
{
	struct taking *t = with;
	struct perf_event_header h;
	uint64_t word[2];
	int ret = 0;

	(void)err;
	for (size_t at = 0; ret >= 0 && at < n; at += h.size) {
		memcpy(&h, bytes + at, sizeof(h));
		if (h.type != PERF_RECORD_SAMPLE)
			continue;
		memcpy(word, bytes + at + sizeof(h), sizeof(word));
		ret = t->each(t->with, word[0], word[1]);
	}
	return ret;
}

static struct perf_event_attr attr_of(uint32_t type, uint64_t config, uint64_t period,
				      unsigned level)
{
	return (struct perf_event_attr){ .type = type,
					 .size = sizeof(struct perf_event_attr),
					 .config = config,
					 .sample_period = period,
					 .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
					 .disabled = 1,
					 .exclude_kernel = 1,
					 .exclude_hv = 1,
					 .precise_ip = level & 3 };
}

/* Sampled during `work`, into a ring large enough for all samples. */
static int sample_while(const struct perf_event_attr *a, void (*work)(void *), void *on,
			struct taking *t, struct tare_error *err)
{
	static struct ring ring;
	int fd = (int)syscall(SYS_perf_event_open, a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC), ret;
	int64_t got;

	if (fd < 0) {
		ret = -errno;
		return tare_fail(err, -ret, "%s", strerror(-ret));
	}
	ret = ring_map(&ring, fd, RING);
	if (ret < 0) {
		close(fd);
		return tare_fail(err, -ret, "cannot map a buffer for samples: %s", strerror(-ret));
	}
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	work(on);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	got = ring_read(&ring, take_records, t, err);
	ring_unmap(&ring);
	close(fd);
	return got < 0 ? (int)got : 0;
}

struct turning {
	const struct skid_event *e;
	unsigned char *memory;
};

static void turn(void *with)
{
	const struct turning *t = with;

	if (t->e->loop == SKID_BRANCHES)
		skid_branches(t->e->turns);
	else
		skid_loads(t->e->turns, t->memory, t->e->faults ? PAGE : 0);
}

int skid_measure(const struct skid_event *e, unsigned level, skid_sample_fn *each, void *with,
		 struct tare_error *err)
{
	struct perf_event_attr a = attr_of(e->type, e->config, e->period, level);
	size_t size = e->faults ? (size_t)e->turns * PAGE : PAGE;
	struct turning t = {
		e, mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
	};
	struct taking to = { each, with };
	int ret;

	if (t.memory == MAP_FAILED)
		return tare_fail_nomem(err);
	madvise(t.memory, size, MADV_NOHUGEPAGE);
	if (!e->faults)
		t.memory[0] = 1;
	if (e->type == PERF_TYPE_BREAKPOINT) {
		a.bp_type = HW_BREAKPOINT_RW;
		a.bp_addr = (uint64_t)(uintptr_t)t.memory;
		a.bp_len = HW_BREAKPOINT_LEN_8;
	}
	ret = sample_while(&a, turn, &t, &to, err);
	munmap(t.memory, size);
	return ret;
}

static void be_busy(void *with)
{
	uint64_t end = clock_now_ns() + CLOCK_NS;

	(void)with;
	while (clock_now_ns() < end)
		skid_branches(CLOCK_TURNS);
}

int skid_measure_clock(uint64_t period, skid_sample_fn *each, void *with, struct tare_error *err)
{
	const struct perf_event_attr a = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK,
						 period, 0);
	struct taking to = { each, with };

	return sample_while(&a, be_busy, NULL, &to, err);
}
