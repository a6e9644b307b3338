/* SPDX-License-Identifier: MIT */
/*
 * Assigns events to counters: a bipartite matching, extended one event at a time by augmenting
 * paths. So the reported event is the first one, in the user's order, for which no reassignment of
 * the earlier ones makes room.
 */
#include <stdio.h>
#include <string.h>
#include "pmu/fit.h"

enum { SLOTS = 64, FIXED = 32 };

#define BIT(n) (UINT64_C(1) << (n))

static uint64_t programmable(const struct counter_facts *f)
{
	return f->programmable >= 32 ? 0xffffffff : BIT(f->programmable) - 1;
}

static uint64_t fixed(const struct counter_facts *f)
{
	return (f->fixed >= 32 ? 0xffffffff : BIT(f->fixed) - 1) << FIXED;
}

/*
 * Codes of the generic events. Source: Linux, arch/x86/events/intel/core.c,
 * intel_perfmon_event_map; Arm ARM, "Common event numbers".
 */
static const struct {
	enum counter_kind kind;
	unsigned event;
	uint64_t config;
} generic[] = {
	{ COUNTERS_INTEL, PERF_COUNT_HW_CPU_CYCLES, 0x003c },
	{ COUNTERS_INTEL, PERF_COUNT_HW_INSTRUCTIONS, 0x00c0 },
	{ COUNTERS_INTEL, PERF_COUNT_HW_CACHE_REFERENCES, 0x4f2e },
	{ COUNTERS_INTEL, PERF_COUNT_HW_CACHE_MISSES, 0x412e },
	{ COUNTERS_INTEL, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0x00c4 },
	{ COUNTERS_INTEL, PERF_COUNT_HW_BRANCH_MISSES, 0x00c5 },
	{ COUNTERS_INTEL, PERF_COUNT_HW_BUS_CYCLES, 0x013c },
	{ COUNTERS_INTEL, PERF_COUNT_HW_REF_CPU_CYCLES, 0x0300 },
	{ COUNTERS_ARM, PERF_COUNT_HW_CPU_CYCLES, 0x11 },
};

/* false: the kernel's code is unknown. */
static bool generic_config(const struct counter_facts *f, unsigned event, uint64_t *config)
{
	for (size_t i = 0; i < ARRAY_SIZE(generic); i++)
		if (generic[i].kind == f->kind && generic[i].event == event) {
			*config = generic[i].config;
			return true;
		}
	*config = 0xc0; /* elsewhere they are all ordinary core events, as this one is on AMD */
	return f->kind != COUNTERS_INTEL;
}

static bool config_of(const struct counter_facts *f, const struct perf_event_attr *attr,
		      uint64_t *config)
{
	*config = attr->config;
	if (attr->type == PERF_TYPE_HARDWARE)
		return generic_config(f, (unsigned)attr->config, config);
	if (attr->type == PERF_TYPE_HW_CACHE)
		return constraint_cache(f, attr->config & 0xffffffff, config);
	return true;
}

/* Shares of the slots counter, read from PERF_METRICS. Source: Linux, INTEL_TD_METRIC_*. */
static bool is_metric(const struct counter_facts *f, uint64_t config)
{
	return f->kind == COUNTERS_INTEL && (config & 0xff) == 0 && (config >> 8 & 0xff) >= 0x80;
}

static void not_sure(struct fit_legal *out, const char *depends)
{
	out->sure = false;
	snprintf(out->depends, sizeof(out->depends), "%s", depends);
}

void fit_legal(const struct counter_facts *f, const struct encoding *enc, struct fit_legal *out)
{
	uint64_t config, named = enc->counters;
	bool known;

	*out = (struct fit_legal){ .sure = true };
	if (enc->unavailable || enc->place == PLACE_UNCORE || !encoding_source(enc)->kernel ||
	    enc->attr.type == PERF_TYPE_SOFTWARE || enc->attr.type == PERF_TYPE_TRACEPOINT ||
	    enc->attr.type == PERF_TYPE_BREAKPOINT)
		return;
	if (named && !(named & (programmable(f) | fixed(f)))) {
		out->counters = programmable(f);
		not_sure(out, "the file that names it: this CPU lacks the counters it names");
		return;
	}
	named &= programmable(f) | fixed(f);
	if (!config_of(f, &enc->attr, &config)) {
		out->counters = named ? named : programmable(f);
		not_sure(out, "");
		return;
	}
	if (enc->attr.type != PERF_TYPE_HARDWARE && enc->attr.type != PERF_TYPE_HW_CACHE &&
	    is_metric(f, config)) {
		not_sure(out, "the slots event, which must lead their group");
		return;
	}
	known = f->bound[0] && constraint_find(f, config, out);
	if (named && !known) { /* given by the user's file */
		out->counters = named;
		out->sure = true;
	} else if (named && !(named >> FIXED) && (named & out->counters)) {
		out->counters &= named;
	} else if (!known && !constraint_find(f, config, out)) {
		out->counters = programmable(f);
		not_sure(out, "");
	}
	if (enc->attr.precise_ip && out->sure)
		not_sure(out, "precise sampling, for which other counters hold");
}

uint64_t fit_counters(const struct counter_facts *f, const struct encoding *enc)
{
	struct fit_legal legal;

	fit_legal(f, enc, &legal);
	return legal.counters;
}

/* Is it on the core PMU `pmu`, or on one that sysfs does not list? */
bool fit_concerns(const char *pmu, const struct encoding *enc)
{
	bool generic = !enc->pmu[0];
	bool core = generic || !strcmp(enc->pmu, "cpu") || !strncmp(enc->pmu, "armv", 4) ||
		!strncmp(enc->pmu, "apple_", 6);

	return pmu[0] ? !strcmp(enc->pmu, pmu) || generic : core;
}

struct matching {
	int owner[SLOTS]; /* event assigned to the counter; -1: free */
	uint64_t legal[SLOTS + 2];
};

/* Find a counter for event i, reassigning others; `tried` makes the search terminate. */
static bool place(struct matching *m, int i, uint64_t *tried)
{
	/* fixed counters first: they support the fewest events */
	for (int c = SLOTS - 1; c >= 0; c--) {
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
		const struct encoding cycles = { .source = &source_perf,
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
		if (!place(&m, taken, &tried)) /* so at most SLOTS events are ever assigned */
			return i;
		taken++;
	}
	return n;
}

size_t fit_unsure(const struct counter_facts *f, const char *pmu, const struct encoding *const *enc,
		  size_t n, struct fit_legal *why)
{
	for (size_t i = 0; i < n; i++) {
		if (!fit_concerns(pmu, enc[i]))
			continue;
		fit_legal(f, enc[i], why);
		if (!why->sure)
			return i;
	}
	return n;
}
