/* SPDX-License-Identifier: MIT */
#include "sample/ring_size.h"

#define EVENTS_A_SECOND                                                                            \
	36000000000ull /* on one CPU: six per cycle at 6 GHz, which no processor sustains */
#define NS_PER_S       1000000000ull
#define SAMPLE_WEIGHTS (1u << 24) /* PERF_SAMPLE_WEIGHT_STRUCT: Linux 5.12 */

enum {
	LATE_MS =
		/* until a reader that was woken gets a busy CPU: several scheduler time slices */
	50,
	RATE_MOST = 100000, /* Source: linux kernel/events/core.c, DEFAULT_MAX_SAMPLE_RATE */
	FRAMES = 127 + 8,   /* kernel.perf_event_max_stack, and the context markers in between */
	BRANCHES = 32,      /* the most that a processor records */
	IBS_WORDS =
		/*
		 * registers of a sample, and the IBS capabilities. Source: linux
		 * arch/x86/events/amd/ibs.c
		 */
	16,
	WORD = 8,
};

size_t sample_bytes(const struct perf_event_attr *attr, size_t members)
{
	static const uint64_t words = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT | SAMPLE_WEIGHTS |
		PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR;
	uint64_t type = attr->sample_type;
	size_t n = 1 + (size_t)__builtin_popcountll(type & words); /* the header */

	if (type & PERF_SAMPLE_READ)
		n += 3 +
			3 *
				(members +
				 /*
				  * the number of values, two times; for each its value, id and
				  * losses
				  */
				 1);
	if (type & PERF_SAMPLE_CALLCHAIN)
		n += 1 + (attr->sample_max_stack ? attr->sample_max_stack + 8u : FRAMES);
	if (type & PERF_SAMPLE_RAW)
		n += 1 + IBS_WORDS;
	if (type & PERF_SAMPLE_BRANCH_STACK)
		n += 2 + 3 * BRANCHES;
	if (type & PERF_SAMPLE_REGS_USER)
		n += 1 + (size_t)__builtin_popcountll(attr->sample_regs_user);
	if (type & PERF_SAMPLE_REGS_INTR)
		n += 1 + (size_t)__builtin_popcountll(attr->sample_regs_intr);
	if (type & PERF_SAMPLE_STACK_USER)
		n += 2 + attr->sample_stack_user / WORD;
	return WORD * n;
}

/*
 * The kernel throttles an event that interrupts too often. With a fixed period PEBS hardware writes
 * many samples before one interrupt, which counts as one. Source: linux
 * arch/x86/events/intel/{core,ds}.c, intel_pmu_large_pebs_flags(), __intel_pmu_pebs_event().
 */
uint64_t sample_rate(const struct perf_event_attr *attr, uint64_t rate_most)
{
	bool clock = attr->type == PERF_TYPE_SOFTWARE &&
		(attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		 attr->config == PERF_COUNT_SW_TASK_CLOCK);
	uint64_t most = rate_most ? rate_most : RATE_MOST, rate;

	if (!attr->sample_period || attr->type == PERF_TYPE_TRACEPOINT ||
	    (attr->type == PERF_TYPE_SOFTWARE && !clock))
		return 0;
	if (attr->freq)
		rate = attr->sample_freq;
	else
		rate = (clock ? NS_PER_S : EVENTS_A_SECOND) / attr->sample_period;
	return rate < most || (attr->precise_ip && !attr->freq) ? rate : most;
}

size_t sample_ring_bytes(const struct sampled *event, size_t n, const struct ring_size *room)
{
	uint64_t late = 0; /* bytes written in LATE_MS; at most 36e9 * 64 KiB / 20 for each event */
	size_t bytes = room->least, members = 0;

	for (size_t i = 0; i < n; i++)
		members += !event[i].attr.sample_period;
	for (size_t i = 0; i < n && late / 3 * 4 < room->most; i++)
		if (!event[i].aux)
			late += sample_rate(&event[i].attr, room->rate_most) *
				sample_bytes(&event[i].attr, members) / (1000 / LATE_MS);
	while (bytes < room->most &&
	       (double)bytes * 3 / 4 <
		       (double)late) /* the reader is woken when a quarter is full */
		bytes *= 2;
	return bytes;
}
