/* SPDX-License-Identifier: MIT */
/*
 * For tests that count on a real PMU: on hardware, or in the emulated machine, where counts are
 * exact. They are skipped on a machine without one.
 */
#ifndef HW_PMU_H
#define HW_PMU_H

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include "loop.h"
#include "source/source.h"
#include "tap.h"

#define EVENT(name_, config_)                                                                      \
	{                                                                                          \
		.name = name_, .source = &source_perf, .place = PLACE_TASK, .scale = 1.0,          \
		.attr = {                                                                          \
			.type = PERF_TYPE_HARDWARE,                                                \
			.config = config_,                                                         \
			.exclude_kernel = 1,                                                       \
			.exclude_hv = 1,                                                           \
		}                                                                                  \
	}

static const struct encoding instructions
	__attribute__((unused)) = EVENT("instructions:u", PERF_COUNT_HW_INSTRUCTIONS);
static const struct encoding cycles
	__attribute__((unused)) = EVENT("cycles:u", PERF_COUNT_HW_CPU_CYCLES);

/* Set for the emulated machine (tests/guest/all): every count is exact to the instruction. */
static bool exact(void)
{
	return getenv("TARE_PMU_EXACT") != NULL;
}

/*
 * Tolerance for `count` user instructions: 0 where counts are exact. On hardware an interrupt or a
 * page fault may count the instruction it hit twice (Weaver, Terpstra and Moore, "Non-Determinism
 * and Overcount on Modern Hardware Performance Counter Implementations", ISPASS 2013); a timer tick
 * comes at most every ms, which is at least 1e5 instructions, and 20 more are allowed for other
 * interrupts.
 */
__attribute__((unused)) static int64_t slack(uint64_t count)
{
	return exact() ? 0 : 20 + (int64_t)(count / 100000);
}

#define CHECK_NEAR(a, b)                                                                           \
	do {                                                                                       \
		int64_t got_ = (int64_t)(a), want_ = (int64_t)(b), off_ = got_ - want_;            \
		tap_check(off_ <= slack(want_) && -off_ <= slack(want_), TAP_WHERE,                \
			  "%s is %lld, off by %lld from %lld; %lld allowed", #a, (long long)got_,  \
			  (long long)off_, (long long)want_, (long long)slack(want_));             \
	} while (0)

/* Skip this test unless the kernel counts this thread's instructions. */
__attribute__((unused)) static void need_pmu(void)
{
	struct perf_event_attr attr = instructions.attr;
	uint64_t before = 0, after = 0;

	attr.size = sizeof(attr);

	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		tap_skip("pmu", "instructions:u cannot be counted on this machine: %s",
			 strerror(errno));
	if (read(fd, &before, sizeof(before)) != sizeof(before))
		tap_skip("pmu", "instructions:u opens but cannot be read: %s", strerror(errno));
	loop(100000);
	if (read(fd, &after, sizeof(after)) != sizeof(after) || after - before < 200000)
		tap_skip("pmu", "instructions:u opens but does not count");
	close(fd);
}

#endif
