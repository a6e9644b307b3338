/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "regs.h"
#include "sample/sample_attr.h"

#define NS_PER_S       1000000000u
#define FORMAT_LOST    (1u << 4)  /* PERF_FORMAT_LOST: Linux 6.0 */
#define SAMPLE_WEIGHTS (1u << 24) /* PERF_SAMPLE_WEIGHT_STRUCT: Linux 5.12 */

/*
 * The fields of every sample. IDENTIFIER is first in samples and last in all other records, so a
 * reader finds the event whatever other fields it has.
 */
static const uint64_t always = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

size_t sample_period_at(const struct perf_event_attr *attr)
{
	if (!(attr->sample_type & PERF_SAMPLE_PERIOD))
		return 0;
	return 48 + (attr->sample_type & PERF_SAMPLE_ADDR ? 8 : 0);
}

static void common(struct perf_event_attr *a, const struct sample_how *how)
{
	a->size = sizeof(*a);
	a->sample_type = always;
	a->sample_id_all = 1;
	a->inherit = how->inherit;
	a->disabled = 1;
	a->use_clockid = how->clockid >= 0;
	a->clockid = how->clockid >= 0 ? how->clockid : 0;
	a->read_format = PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
		PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (how->lost)
		a->read_format |= FORMAT_LOST;
}

bool sample_maps_data(const struct sample_how *how)
{
	return how->addresses || how->calls == CALLS_DWARF;
}

static void track(struct perf_event_attr *a, const struct sample_how *how)
{
	a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = a->ksymbol = 1;
	a->mmap_data = sample_maps_data(how);
	a->context_switch = how->switches;
}

/* perf's choice for these; exactly the same, since its readers expect it. */
static void ask_calls(struct perf_event_attr *a, const struct sample_how *how)
{
	if (how->calls == CALLS_NONE)
		return;
	a->sample_type |= PERF_SAMPLE_CALLCHAIN;
	a->sample_max_stack = how->max_stack;
	if (how->calls == CALLS_DWARF) {
		a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a->sample_regs_user = ARCH_REGS_USER;
		a->sample_stack_user = how->stack_bytes;
		a->exclude_callchain_user = 1; /* the unwinder provides it */
	} else if (how->calls == CALLS_LBR) {
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type |= PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
			PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS |
			PERF_SAMPLE_BRANCH_HW_INDEX;
		a->exclude_callchain_user = 1;
	}
}

static void ask_more(struct perf_event_attr *a, const struct sample_how *how)
{
	if (how->addresses)
		a->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
	if (how->hardware)
		a->sample_type |= PERF_SAMPLE_RAW;
	if (how->fields && a->type == PERF_TYPE_TRACEPOINT)
		a->sample_type |= PERF_SAMPLE_RAW;
	if (how->weights)
		a->sample_type |= SAMPLE_WEIGHTS;
	if (how->weight)
		a->sample_type |= PERF_SAMPLE_WEIGHT;
	if (how->physical)
		a->sample_type |= PERF_SAMPLE_PHYS_ADDR;
	if (how->registers) {
		a->sample_type |= PERF_SAMPLE_REGS_INTR;
		a->sample_regs_intr = ARCH_REGS_USER;
	}
	if (how->branches) {
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type |= how->branches;
	}
}

/*
 * mem-loads-aux: Sapphire Rapids and similar cores count it together with loads to give the loads a
 * latency; it has no samples of its own. Source: linux arch/x86/events/intel/core.c,
 * is_mem_loads_aux_event().
 */
static bool is_companion(const struct encoding *e)
{
	return strstr(e->name, "/mem-loads-aux/") != NULL;
}

bool sample_by_aux(const struct encoding *e)
{
	return !strncmp(e->pmu, "arm_spe_", 8);
}

/*
 * A constant period is not written into the samples: if it were requested, the kernel would sample
 * every single software event. Source: linux kernel/events/core.c, perf_swevent_event().
 */
static void ask_rate(struct perf_event_attr *a, const struct encoding *e,
		     const struct sample_how *how)
{
	if (is_companion(e))
		return;
	/*
	 * Each event, with its value (a run of 5 ms is 5,000,000 of sched_stat_runtime) as the
	 * period.
	 */
	if (!a->sample_period && how->fields && !how->rate_given &&
	    a->type == PERF_TYPE_TRACEPOINT) {
		a->sample_period = 1;
		a->sample_type |= PERF_SAMPLE_PERIOD;
	}
	if (!a->sample_period) { /* else the event's own: cpu/cycles,period=1000/ */
		a->freq = !how->period;
		a->sample_period = how->period ? how->period : how->frequency;
	}
	if (a->freq)
		a->sample_type |= PERF_SAMPLE_PERIOD;
}

uint64_t sample_clock_short(const struct encoding *e, const struct sample_how *how)
{
	struct perf_event_attr a = e->attr;
	uint64_t ns;

	if (a.type != PERF_TYPE_SOFTWARE ||
	    (a.config != PERF_COUNT_SW_CPU_CLOCK && a.config != PERF_COUNT_SW_TASK_CLOCK))
		return 0;
	ask_rate(&a, e, how);
	ns = a.freq && a.sample_freq ? NS_PER_S / a.sample_freq : a.sample_period;
	return ns && ns < SAMPLE_CLOCK_LEAST ? ns : 0;
}

static size_t leader_of(const struct encoding_list *list, size_t i)
{
	size_t at = 0;

	while (list->enc[at].group != list->enc[i].group)
		at++;
	return at;
}

bool sample_reads_clock(const struct encoding_list *list, size_t i)
{
	return encoding_modes(&list->enc[i]) == MODES_CLOCK &&
		list->enc[leader_of(list, i)].sample_read;
}

void sample_attrs(struct sampled *out, const struct encoding_list *list,
		  const struct sample_how *how, size_t base)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct encoding *e = &list->enc[i];
		size_t leader = leader_of(list, i);
		struct perf_event_attr a = e->attr;
		bool reads = list->enc[leader].sample_read;

		common(&a, how);
		if (!sample_by_aux(e)) {
			ask_calls(&a, how);
			ask_more(&a, how);
		} else if (
			/* for readers of the file: the hardware uses the event's own bits */
			how->physical) {
			a.sample_type |= PERF_SAMPLE_PHYS_ADDR;
		}
		ask_rate(&a, e, how);
		if (sample_clock_short(e, how)) {
			a.freq = 0;
			a.sample_period = SAMPLE_CLOCK_LEAST;
			a.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
		}
		if (how->no_kernel && sample_reads_clock(list, i))
			a.exclude_kernel = a.exclude_hv = 1;
		a.enable_on_exec = leader == i && how->on_exec;
		if (reads) {
			/*
			 * Members are read when the leader overflows, and do not overflow
			 * themselves.
			 */
			a.sample_type |= PERF_SAMPLE_READ;
			a.read_format |= PERF_FORMAT_GROUP;
			a.inherit &= how->reads_inherited;
			if (leader != i)
				a.freq = a.sample_period = 0;
		}
		if (leader != i) {
			a.disabled = 0;
			a.pinned = a.exclusive = 0;
		}
		if (how->track && i == 0)
			track(&a, how);
		out[i] = (struct sampled){
			.enc = e, .attr = a, .leader = base + leader, .aux = sample_by_aux(e)
		};
	}
}

void sample_tracker(struct encoding *enc, struct sampled *out, const struct sample_how *how)
{
	*enc = (struct encoding){
		.name = "dummy:u", .source = &source_perf, .place = PLACE_TASK, .scale = 1
	};
	enc->attr = (struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE,
					      .config = PERF_COUNT_SW_DUMMY,
					      .exclude_kernel = 1,
					      .exclude_hv = 1 };
	*out = (struct sampled){ .enc = enc, .attr = enc->attr };
	common(&out->attr, how);
	out->attr.enable_on_exec = how->on_exec;
	track(&out->attr, how);
}
