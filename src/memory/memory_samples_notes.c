/* SPDX-License-Identifier: MIT */
/*
 * Describes how a recording's events sample accesses: what shares and percentiles refer to, and
 * where the hardware is biased. Sources: Intel SDM vol. 3B, 20.3.4.4.2, "Load Latency Performance
 * Monitoring Facility"; AMD64 APM vol. 2, 13.3, "Instruction-Based Sampling"; Arm ARM, chapter D17,
 * "The Statistical Profiling Extension"; Linux, drivers/perf/arm_spe_pmu.c for SPE's settings.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/array.h"
#include "memory/memory_samples_private.h"
#include "perfdata/perfdata_features.h"
#include "perfdata/perfdata_precise.h"

enum {
	TYPE_HARDWARE = 0,
	TYPE_RAW = 4,
	LOAD_LATENCY = 0x1cd,      /* MEM_TRANS_RETIRED.LOAD_LATENCY */
	LOAD_LATENCY_ATOM = 0x5d0, /* MEM_UOPS_RETIRED.LOAD_LATENCY */
	L1_HIT =
		/*
		 * cycles: minimum load latency. Source: Intel Optimization Reference Manual, cache
		 * parameters of each core
		 */
	4,
	PRECISE = 3 << 15,
	FREQUENCY = 1 << 10,
};

int memory_samples_add_note(struct memory_samples *c, struct tare_error *err, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!array_one_more(&c->note, c->n_notes, sizeof(*c->note)))
		return tare_fail_nomem(err);
	va_start(ap, fmt);
	n = vasprintf(&c->note[c->n_notes], fmt, ap);
	va_end(ap);
	c->n_notes += n >= 0;
	return n < 0 ? tare_fail_nomem(err) : 0;
}

static const char *pmu_of(const struct memory_samples *c, uint32_t type)
{
	const struct perfdata_features *f = perfdata_features(c->file);

	for (size_t i = 0; i < f->n_pmus; i++)
		if (f->pmus[i].type == type)
			return f->pmus[i].name;
	return "";
}

static int note_spe(struct memory_samples *c, const struct perfdata_event *ev,
		    struct tare_error *err)
{
	static const struct {
		unsigned bit;
		const char *what;
	} filters[] = { { 32, "branches" }, { 33, "loads" }, { 34, "stores" } };
	const struct perfdata_attr *a = &ev->attr;
	char kinds[64] = "";
	int ret;

	ret = memory_samples_add_note(
		c, err,
		"%s: SPE takes one of every %" PRIu64
		" operations of any kind; an operation is missing if the record before it was still being "
		"written",
		ev->name, a->period);
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
		if (a->config >> filters[i].bit & 1)
			snprintf(kinds + strlen(kinds), sizeof(kinds) - strlen(kinds), "%s%s",
				 kinds[0] ? " and " : "", filters[i].what);
	if (ret == 0 && kinds[0])
		ret = memory_samples_add_note(c, err, "%s: only %s were recorded", ev->name, kinds);
	if (ret == 0 && a->config1)
		ret = memory_samples_add_note(c, err,
					      "%s: only operations with events 0x%" PRIx64
					      " were recorded: shares are of those",
					      ev->name, a->config1);
	if (ret == 0 && a->config2 & 0xfff)
		ret = memory_samples_add_note(
			c, err,
			"%s: only operations of %u cycles or more were recorded: shares and percentiles are of slow ones",
			ev->name, (unsigned)(a->config2 & 0xfff));
	return ret;
}

/* ldlat, of ibs_op's own type; 0: none. */
static unsigned least_latency(const struct perfdata_event *ev)
{
	return ev->attr.config1 & 0xfff;
}

/*
 * The register shows what Linux programmed. Source: Linux, arch/x86/include/asm/perf_event.h,
 * IBS_OP_L3MISSONLY.
 */
void memory_samples_note_sample(struct memory_samples *c, const struct perfdata_record *rec)
{
	struct ibs_event ev;
	struct ibs s;

	if (c->p->slow_loads != FAR_UNKNOWN || !rec->event || !least_latency(rec->event))
		return;
	ev = perfdata_ibs_event(c->file, rec->event);
	if (!ev.is_ibs) /* then no other event of that machine is IBS */
		c->p->slow_loads = FAR_AND_NEAR;
	else if (ev.kind == IBS_OP && perfdata_ibs_of(&ev, rec, &s, NULL) > 0)
		c->p->slow_loads = s.reg[IBS_OP_CTL] >> 16 & 1 ? FAR_ONLY : FAR_AND_NEAR;
}

static int note_ibs(struct memory_samples *c, const struct perfdata_event *ev, bool op,
		    struct tare_error *err)
{
	const struct perfdata_attr *a = &ev->attr;
	bool micro_ops = a->config >> 19 & 1 || (a->type == TYPE_RAW && (a->config & 0xff) == 0xc1),
	     far = a->config >> (op ? 16 : 59) & 1;
	unsigned slow = op ? least_latency(ev) : 0;
	bool all_far = far || c->p->slow_loads == FAR_ONLY;
	int ret = 0;

	if (op && micro_ops)
		ret = memory_samples_add_note(c, err,
					      "%s: IBS samples one of every %" PRIu64
					      " micro-ops as they are dispatched",
					      ev->name, a->period);
	else if (op)
		ret = memory_samples_add_note(
			c, err,
			"%s: IBS samples the operation dispatched next after %" PRIu64
			" cycles: operations after a stall are sampled more "
			"often than others, so shares are closer to shares of time than of accesses",
			ev->name, a->period);
	if (ret == 0 && slow)
		ret = memory_samples_add_note(
			c, err,
			"%s: only loads that %stook more than %u cycles were recorded (ldlat=%u): shares and percentiles are "
			"of those",
			ev->name, all_far ? "missed L3 and " : "", slow, slow);
	else if (ret == 0 && far)
		ret = memory_samples_add_note(
			c, err,
			"%s: only L3 misses were recorded (l3missonly): shares are of those",
			ev->name);
	return ret;
}

static bool is_spe(const char *pmu)
{
	return !strncmp(pmu, "arm_spe", 7);
}

static bool is_ibs_op(const struct perfdata_attr *a, const char *pmu, bool amd)
{
	return !strcmp(pmu, "ibs_op") ||
		(amd && a->flags & PRECISE && (a->type == TYPE_HARDWARE || a->type == TYPE_RAW));
}

static int note_event(struct memory_samples *c, const struct perfdata_event *ev,
		      struct tare_error *err)
{
	const struct perfdata_attr *a = &ev->attr;
	const char *pmu = pmu_of(c, a->type), *cpuid = perfdata_features(c->file)->cpuid;
	bool amd = cpuid && !strncmp(cpuid, "AuthenticAMD", 12);
	uint64_t code = a->config & 0xffff;

	c->tells_accesses |= is_spe(pmu) || is_ibs_op(a, pmu, amd) ||
		a->sample_type & PD_SAMPLE_DATA_SRC;
	if (is_spe(pmu))
		return note_spe(c, ev, err);
	if (is_ibs_op(a, pmu, amd))
		return note_ibs(c, ev, true, err);
	if (!strcmp(pmu, "ibs_fetch"))
		return note_ibs(c, ev, false, err);
	if (!(a->sample_type & PD_SAMPLE_DATA_SRC) && !(a->sample_type & PD_SAMPLE_ADDR))
		return 0;
	if (!amd && (code == LOAD_LATENCY || code == LOAD_LATENCY_ATOM) && (a->config1 & 0xffff) &&
	    (a->config1 & 0xffff) <= L1_HIT)
		return memory_samples_add_note(
			c, err,
			"%s: loads of any latency (ldlat=%u), but the hardware tracks one load at a time and chooses it itself: not "
			"every load is equally likely to be sampled",
			ev->name, (unsigned)(a->config1 & 0xffff));
	if (!amd && (code == LOAD_LATENCY || code == LOAD_LATENCY_ATOM) && a->config1 & 0xffff)
		return memory_samples_add_note(
			c, err,
			"%s: only loads that took %u cycles or more (ldlat=%u), and the hardware tracks one of them at a time: "
			"shares and percentiles are of slow loads, not of all loads",
			ev->name, (unsigned)(a->config1 & 0xffff), (unsigned)(a->config1 & 0xffff));
	c->every = !strncmp(ev->name, "exact/", 6) && a->period == 1;
	if (c->every)
		return memory_samples_add_note(
			c, err,
			"%s: every load and store; a repeated string instruction (rep movs, rep stos: large copies) counts as one access, at "
			"its first byte",
			ev->name);
	if (!strncmp(ev->name, "exact/", 6))
		return memory_samples_add_note(
			c, err,
			"%s: one of every %" PRIu64
			" loads and stores on average, all equally likely; a repeated string "
			"instruction (rep movs, rep stos: large copies) counts as one access, at its first byte",
			ev->name, a->period);
	if (a->flags & FREQUENCY)
		return memory_samples_add_note(
			c, err,
			"%s: %" PRIu64
			" samples a second were requested; each represents the events since the sample "
			"before (column weight)",
			ev->name, a->period);
	return memory_samples_add_note(c, err, "%s: one of every %" PRIu64 " events", ev->name,
				       a->period);
}

int memory_samples_note_selection(struct memory_samples *c, struct tare_error *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < perfdata_event_count(c->file); i++)
		ret = note_event(c, perfdata_event_at(c->file, i), err);
	return ret;
}
