/* SPDX-License-Identifier: MIT */
/*
 * Events to counters: a matching, grown one event at a time by augmenting paths, so that the event
 * named is the first in the user's order that no shuffling of the earlier ones makes room for.
 */
#include <string.h>
#include "pmu/fit.h"

enum { SLOTS = 64, FIXED = 32 };

#define BIT(n) (UINT64_C(1) << (n))

static uint64_t programmable(const struct counter_facts *f)
{
	return f->programmable >= 32 ? 0xffffffff : BIT(f->programmable) - 1;
}

static uint64_t fixed(const struct counter_facts *f, unsigned n)
{
	return n < f->fixed ? BIT(FIXED + n) : 0;
}

/*
 * Bits of config beside event and umask make an event programmable-only: the fixed counters take
 * none. Source: Linux, arch/x86/events/perf_event.h, FIXED_EVENT_FLAGS; Intel SDM vol. 3B,
 * "Fixed-Function Performance Counters".
 */
static uint64_t intel_raw(const struct counter_facts *f, uint64_t config)
{
	switch (config) {
	case 0x00c0:
		return programmable(f) | fixed(f, 0);
	case 0x003c:
		return programmable(f) | fixed(f, 1);
	case 0x0300: /* no programmable event counts these two */
		return fixed(f, 2);
	case 0x0400:
		return fixed(f, 3);
	}
	if ((config & 0xff) == 0 &&
	    (config >> 8 & 0xff) >= 0x80) /* shares of the slots counter, read from PERF_METRICS */
		return 0;
	return programmable(f);
}

uint64_t fit_counters(const struct counter_facts *f, const struct encoding *enc)
{
	uint64_t config = enc->attr.config, any = programmable(f);

	if (enc->unavailable || enc->place == PLACE_UNCORE || strcmp(enc->source, "perf"))
		return 0;
	if (enc->counters)
		return enc->counters;
	switch (enc->attr.type) {
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return 0;
	case PERF_TYPE_HW_CACHE:
		return any;
	case PERF_TYPE_HARDWARE:
		switch (config & 0xffffffff) {
		case PERF_COUNT_HW_INSTRUCTIONS:
			return f->kind == COUNTERS_INTEL ? any | fixed(f, 0) : any;
		case PERF_COUNT_HW_CPU_CYCLES:
			return f->kind == COUNTERS_INTEL ? any | fixed(f, 1)
			       : f->kind == COUNTERS_ARM ? any | fixed(f, 0)
							 : any;
		case PERF_COUNT_HW_REF_CPU_CYCLES:
			return f->kind == COUNTERS_INTEL ? fixed(f, 2) : any;
		}
		return any;
	}
	if (f->kind == COUNTERS_INTEL)
		return intel_raw(f, config);
	if (f->kind == COUNTERS_ARM &&
	    config == 0x11) /* CPU_CYCLES; Arm ARM, "Common event numbers" */
		return any | fixed(f, 0);
	return any;
}

/* On the core PMU `pmu`, or on none that sysfs names. */
bool fit_concerns(const char *pmu, const struct encoding *enc)
{
	bool generic = !enc->pmu[0];
	bool core = generic || !strcmp(enc->pmu, "cpu") || !strncmp(enc->pmu, "armv", 4) ||
		    !strncmp(enc->pmu, "apple_", 6);

	return pmu[0] ? !strcmp(enc->pmu, pmu) || generic : core;
}

struct matching {
	int owner[SLOTS]; /* event that holds the counter; -1: free */
	uint64_t legal[SLOTS + 2];
};

/* Find a counter for event i, moving others along; `tried` keeps the search finite. */
static bool place(struct matching *m, int i, uint64_t *tried)
{
	for (int c = SLOTS - 1; c >= 0; c--) { /* fixed counters first: they serve fewest */
		if (!(m->legal[i] >> c & 1) || (*tried >> c & 1))
			continue;
		*tried |= BIT(c);
		if (m->owner[c] < 0 || place(m, m->owner[c], tried)) {
			m->owner[c] = i;
			return true;
		}
	}
	return false;
}

size_t fit_check(const struct counter_facts *f, const char *pmu, const struct encoding *const *enc,
		 size_t n)
{
	struct matching m;
	int taken = 0;

	memset(m.owner, -1, sizeof(m.owner));
	if (f->watchdog) {
		const struct encoding cycles = { .source = "perf",
						 .attr.config = PERF_COUNT_HW_CPU_CYCLES };
		uint64_t tried = 0;

		m.legal[taken] = fit_counters(f, &cycles);
		place(&m, taken++, &tried);
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t tried = 0, legal = fit_counters(f, enc[i]);

		if (!fit_concerns(pmu, enc[i]) || !legal)
			continue;
		m.legal[taken] = legal;
		if (!place(&m, taken, &tried)) /* so at most SLOTS events are ever placed */
			return i;
		taken++;
	}
	return n;
}
