/* SPDX-License-Identifier: MIT */
/*
 * Codes of the generic events, and conversion of a perf encoding to a register's. Sources: Linux,
 * arch/x86/events/intel/core.c, intel_perfmon_event_map; arch/x86/events/amd/core.c,
 * amd_perfmon_event_map and amd_zen1_perfmon_event_map.
 */
#include <stdio.h>
#include <string.h>
#include "arch/cpu.h"
#include "pmu/machine.h"
#include "msr/msr_events.h"

static const struct {
	enum counter_kind kind;
	const char *bound; /* table of data/constraints.txt; NULL: all */
	unsigned event;
	uint64_t config;
} generic[] = {
	{ COUNTERS_INTEL, NULL, PERF_COUNT_HW_CPU_CYCLES, 0x003c },
	{ COUNTERS_INTEL, NULL, PERF_COUNT_HW_INSTRUCTIONS, 0x00c0 },
	{ COUNTERS_INTEL, NULL, PERF_COUNT_HW_CACHE_REFERENCES, 0x4f2e },
	{ COUNTERS_INTEL, NULL, PERF_COUNT_HW_CACHE_MISSES, 0x412e },
	{ COUNTERS_INTEL, NULL, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0x00c4 },
	{ COUNTERS_INTEL, NULL, PERF_COUNT_HW_BRANCH_MISSES, 0x00c5 },
	{ COUNTERS_INTEL, NULL, PERF_COUNT_HW_BUS_CYCLES, 0x013c },
	{ COUNTERS_INTEL, NULL, PERF_COUNT_HW_REF_CPU_CYCLES, 0x0300 },
	{ COUNTERS_AMD, NULL, PERF_COUNT_HW_CPU_CYCLES, 0x0076 },
	{ COUNTERS_AMD, NULL, PERF_COUNT_HW_INSTRUCTIONS, 0x00c0 },
	{ COUNTERS_AMD, NULL, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0x00c2 },
	{ COUNTERS_AMD, NULL, PERF_COUNT_HW_BRANCH_MISSES, 0x00c3 },
	{ COUNTERS_AMD, "amd17h", PERF_COUNT_HW_CACHE_REFERENCES, 0xff60 },
	{ COUNTERS_AMD, "amd17h", PERF_COUNT_HW_CACHE_MISSES, 0x0964 },
};

static unsigned maker_of(const char *vendor)
{
	if (!strcmp(vendor, "GenuineIntel"))
		return TARE_MSR_INTEL;
	if (!strcmp(vendor, "AuthenticAMD") || !strcmp(vendor, "HygonGenuine"))
		return TARE_MSR_AMD;
	return 0;
}

unsigned msr_maker_here(void)
{
	struct cpu_description self;

	cpu_describe(&self);
	return maker_of(self.vendor);
}

static int cpu_here(struct msr_cpu *out, struct counter_facts *facts, struct tare_error *err)
{
	struct machine *m = machine_open(NULL, err);
	const struct pmu *const *cores;
	const struct msr_extra *extras;
	struct cpu_description self;
	struct cpu_row row;
	size_t types = 0;

	if (!m)
		return -ENOMEM;
	machine_cores(m, &cores, &types, NULL);
	/*
	 * Only the table of constraints is used, if known; the number of counters comes from CPUID.
	 */
	counter_facts_of(m, "", facts, NULL);
	extras = cpu_row_find(machine_cpu(m), NULL, &row) ? msr_extras_of(row.bound, row.libpfm)
							  : NULL;
	machine_close(m);
	if (types > 1) {
		tare_fail(
			err, EOPNOTSUPP,
			"this machine has several types of core, and CPUID describes only one of them");
		tare_hint(err, "perf knows which is which: --engine perf");
		return -EOPNOTSUPP;
	}
	cpu_describe(&self);
	*out = (struct msr_cpu){ .maker = maker_of(self.vendor),
				 .version = self.version,
				 .programmable = self.programmable < MSR_PROGRAMMABLE_MAX
					 ? self.programmable
					 : MSR_PROGRAMMABLE_MAX,
				 .fixed = self.fixed < MSR_FIXED_MAX ? self.fixed : MSR_FIXED_MAX,
				 .width = self.width_bits,
				 .fixed_width = self.fixed_width_bits ? self.fixed_width_bits
								      : self.width_bits,
				 .full_width = self.version >= 4,
				 .extras = extras };
	snprintf(out->name, sizeof(out->name), "%s", self.model[0] ? self.model : "this CPU");
	facts->kind = out->maker == TARE_MSR_AMD ? COUNTERS_AMD : COUNTERS_INTEL;
	facts->programmable = out->programmable;
	facts->fixed = out->fixed;
	if (!out->maker)
		return tare_fail(
			err, ENODATA,
			"counters by registers are for Intel's and AMD's CPUs, and this is neither");
	if (!out->programmable) {
		tare_fail(err, ENODATA, "this machine offers no counters: CPUID says so%s",
			  self.hypervisor ? ", under a hypervisor" : "");
		tare_hint(err, "--cpu MODEL plans for another CPU");
		return -ENODATA;
	}
	return 0;
}

int msr_cpu_for(struct msr_cpu *out, struct counter_facts *facts, const char *model,
		struct tare_error *err)
{
	struct cpu_row row;
	int ret;

	*facts = (struct counter_facts){ 0 };
	if (!model)
		return cpu_here(out, facts, err);
	ret = counter_facts_of_model(model, facts, err);
	if (ret < 0)
		return ret;
	if (facts->kind == COUNTERS_ARM || !cpu_row_by_model(model, &row)) {
		tare_fail(err, ENODATA, "%.60s has no such registers: they are Intel's and AMD's",
			  facts->cpu);
		return -ENODATA;
	}
	return msr_cpu_of(out, row.bound, row.libpfm, row.name, facts->programmable,
			  facts->fixed < MSR_FIXED_MAX ? facts->fixed : MSR_FIXED_MAX, err);
}

static int config_of(const struct counter_facts *facts, const struct encoding *enc,
		     uint64_t *config, struct tare_error *err)
{
	const struct perf_event_attr *attr = &enc->attr;

	*config = attr->config;
	if (attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT ||
	    attr->type == PERF_TYPE_BREAKPOINT)
		return tare_fail(err, EOPNOTSUPP, "%s is counted by the kernel, not by a register",
				 enc->name);
	if (enc->place == PLACE_UNCORE)
		return tare_fail(
			err, EOPNOTSUPP,
			"%s is counted outside the cores, by registers that tare leaves to perf",
			enc->name);
	if (attr->type == PERF_TYPE_HARDWARE) {
		for (size_t i = 0; i < ARRAY_SIZE(generic); i++)
			if (generic[i].kind == facts->kind &&
			    generic[i].event == (attr->config & UINT32_MAX) &&
			    (!generic[i].bound || !strcmp(generic[i].bound, facts->bound))) {
				*config = generic[i].config;
				return 0;
			}
	} else if (attr->type != PERF_TYPE_HW_CACHE ||
		   (constraint_cache(facts, attr->config & UINT32_MAX, config) && *config)) {
		return 0;
	}
	tare_fail(err, EOPNOTSUPP, "the kernel's code for %s on this CPU is unknown", enc->name);
	tare_hint(err, "give the event by its own name, or by number: r01c2");
	return -EOPNOTSUPP;
}

/*
 * Intel's event selects have no bits for guests, AMD's do. But if virtualization is disabled in
 * EFER, an event for the host only counts nothing, and EFER can change at any time: such a plan can
 * be made, but is not used for counting (msr.c).
 */
static int guests_of(const struct msr_cpu *cpu, const struct encoding *enc, uint64_t *config,
		     struct tare_error *err)
{
	bool guest_only = enc->attr.exclude_host;

	if (!guest_only && !enc->host_only)
		return 0;
	if (cpu->maker != TARE_MSR_AMD) {
		tare_fail(err, EOPNOTSUPP,
			  "%s: a register of Intel's cannot tell guests from their host",
			  enc->name);
		tare_hint(
			err,
			"perf can, by stopping counters as guests begin and end: --engine perf. Without :%c both are counted",
			guest_only ? 'G' : 'H');
		return -EOPNOTSUPP;
	}
	*config |= guest_only ? MSR_AMD_GUEST_ONLY : MSR_AMD_HOST_ONLY;
	return 0;
}

int msr_event_for(struct msr_event *out, const struct msr_cpu *cpu,
		  const struct counter_facts *facts, const struct encoding *enc,
		  struct tare_error *err)
{
	const struct perf_event_attr *attr = &enc->attr;
	int ret;

	*out = (struct msr_event){ .name = enc->name,
				   .user = !attr->exclude_user,
				   .kernel = !attr->exclude_kernel };
	if (enc->unavailable) {
		tare_fail(err, enc->unavailable, "%s: %s", enc->name, enc->why);
		tare_hint(err, "%s", enc->remedy);
		return -enc->unavailable;
	}
	if (attr->precise_ip)
		return tare_fail(err, EOPNOTSUPP,
				 "%s: precise sampling is perf's: a register only counts",
				 enc->name);
	if (attr->freq) {
		tare_fail(
			err, EOPNOTSUPP,
			"%s: only perf supports a frequency, by adjusting the period: a register cannot",
			enc->name);
		tare_hint(err, "period=N plans a window of N");
		return -EOPNOTSUPP;
	}
	ret = config_of(facts, enc, &out->config, err);
	if (ret == 0)
		ret = guests_of(cpu, enc, &out->config, err);
	if (ret < 0)
		return ret;
	out->extra = attr->config1;
	out->period = attr->sample_period;
	out->legal = fit_counters(facts, enc) & UINT32_MAX;
	return 0;
}
