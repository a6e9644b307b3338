/* SPDX-License-Identifier: MIT */
/*
 * Faults that only counting reveals: an uncontended lock, an overflow inside a loop of known
 * length, a counter that excludes aborted transactions. x86 only.
 */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include "arch/cpu.h"
#include "host/host_surround.h"

#if defined(__x86_64__)
enum { LOCKS = 100, TURNS = 100000, PERIOD = 5000, ROUNDS = 3, AROUND = 2000 };

static int open_one(uint32_t type, uint64_t config, uint64_t period)
{
	struct perf_event_attr attr = { .type = type,
					.size = sizeof(attr),
					.config = config,
					.sample_period = period,
					.exclude_kernel = 1,
					.exclude_hv = 1,
					.exclude_guest = 1 };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool count(int fd, uint64_t *out)
{
	return read(fd, out, sizeof(*out)) == sizeof(*out);
}

static void cannot(struct fault_try *t)
{
	t->outcome = FAULT_TRY_NOT;
	snprintf(t->words, sizeof(t->words), "%s", strerror(errno));
}

/*
 * Event 0x25, unit mask 8: SpecLockMapCommit. Source: rr#2034; PPR for AMD family 17h models
 * 00h-0Fh, PMCx025.
 */
static void try_speclockmap(struct fault_try *t)
{
	int fd = open_one(PERF_TYPE_RAW, 0x0825, 0), word = 0;
	uint64_t before, after;

	if (fd < 0) {
		cannot(t);
		return;
	}
	if (!count(fd, &before)) {
		cannot(t);
		close(fd);
		return;
	}
	for (int i = 0; i < LOCKS; i++)
		__atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST);
	if (count(fd, &after)) {
		t->outcome = after > before ? FAULT_TRY_BAD : FAULT_TRY_GOOD;
		snprintf(t->words, sizeof(t->words), "%llu of %d uncontended locks were speculated",
			 (unsigned long long)(after - before), LOCKS);
	} else {
		cannot(t);
	}
	close(fd);
}

/* Count the branches of a loop, with or without overflows; false: not counted. */
static bool loop_branches(uint64_t config, uint32_t type, uint64_t period, uint64_t *out)
{
	int fd = open_one(type, config, period);
	uint64_t before, after;
	bool good;

	if (fd < 0)
		return false;
	good = count(fd, &before);
	cpu_loop(TURNS);
	good = good && count(fd, &after);
	*out = good ? after - before : 0;
	close(fd);
	return good && *out > 0;
}

static void try_pmi_leak(struct fault_try *t)
{
	uint64_t quiet = UINT64_MAX, sampled = UINT64_MAX, n;

	for (int i = 0; i < ROUNDS; i++) {
		if (!loop_branches(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_TYPE_HARDWARE, 0, &n)) {
			cannot(t);
			return;
		}
		quiet = n < quiet ? n : quiet;
		if (!loop_branches(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_TYPE_HARDWARE, PERIOD,
				   &n)) {
			cannot(t);
			return;
		}
		sampled = n < sampled ? n : sampled;
	}
	/* An interrupt itself may count as one or two branches; its handling as many. */
	t->outcome = sampled > quiet + 4 * (TURNS / PERIOD) ? FAULT_TRY_BAD : FAULT_TRY_GOOD;
	snprintf(t->words, sizeof(t->words), "a loop was %llu branches, and %llu with %d overflows",
		 (unsigned long long)quiet, (unsigned long long)sampled, TURNS / PERIOD);
}

/* IN_TXCP is bit 33. Source: Intel SDM vol. 3B, "Intel TSX and performance monitoring". */
static void try_txcp(struct fault_try *t)
{
	uint64_t n;
	int fd = open_one(PERF_TYPE_RAW, 0xc4 | UINT64_C(1) << 33, 0);

	if (fd < 0) {
		cannot(t);
		return;
	}
	close(fd);
	if (!loop_branches(0xc4 | UINT64_C(1) << 33, PERF_TYPE_RAW, 0, &n))
		n = 0;
	t->outcome = !n                            ? FAULT_TRY_NOT
		: n >= TURNS && n < TURNS + AROUND ? FAULT_TRY_GOOD
						   : FAULT_TRY_BAD;
	snprintf(t->words, sizeof(t->words), "%llu counted of %d branches", (unsigned long long)n,
		 TURNS);
}
#endif

void host_try_faults(struct host *h)
{
#if defined(__x86_64__)
	if (!h->pmus)
		return;
	if (!strcmp(h->cpu.vendor, "AuthenticAMD") || !strcmp(h->cpu.vendor, "HygonGenuine"))
		try_speclockmap(&h->fault_tries.speclockmap);
	if (!strcmp(h->cpu.vendor, "GenuineIntel") && h->cpu.hypervisor)
		try_pmi_leak(&h->fault_tries.pmi_leak);
	if (!strcmp(h->cpu.vendor, "GenuineIntel") && h->tsx)
		try_txcp(&h->fault_tries.txcp);
#else
	(void)h;
#endif
}
