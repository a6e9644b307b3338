/* SPDX-License-Identifier: MIT */
/*
 * Groups per PMU. The kernel schedules a group on one PMU, and software events with any group. So a
 * group of the user that spans several PMUs (a hybrid machine, several memory controllers) becomes
 * one group per PMU. Its software events become a group of their own: otherwise they would stop
 * whenever the PMU of their group does not belong to this CPU.
 */
#include <stdlib.h>
#include <string.h>
#include "pmu/encode.h"

/* No PMU schedules that many, and the search below is cubic. */
enum { GROUP_MAX = 512 };

/*
 * PMUs in the kernel's software context: their events can join the group of any PMU. Source: Linux,
 * task_ctx_nr = perf_sw_context in arch/x86/events/msr.c, arch/x86/events/intel/{pt,bts}.c,
 * drivers/perf/arm_spe_pmu.c, drivers/hwtracing/coresight/coresight-etm-perf.c,
 * kernel/events/core.c; perf_event_open(), is_software_event().
 */
static bool in_software_context(const char *pmu)
{
	static const char *const names[] = { "msr",    "intel_pt", "intel_bts", "kprobe",
					     "uprobe", "cs_etm",   "arm_spe_" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);

		if (!strncmp(pmu, names[i], n) && (!pmu[n] || names[i][n - 1] == '_'))
			return true;
	}
	return false;
}

/*
 * "": needs no PMU. Generic events of the only core PMU and that PMU's own events have the same
 * key.
 */
static const char *key_of(const struct encoding *enc)
{
	if (in_software_context(enc->pmu))
		return "";
	if (enc->place == PLACE_TASK)
		switch (enc->attr.type) {
		case PERF_TYPE_SOFTWARE:
		case PERF_TYPE_TRACEPOINT:
		case PERF_TYPE_BREAKPOINT:
			return "";
		case PERF_TYPE_HARDWARE:
		case PERF_TYPE_HW_CACHE:
		case PERF_TYPE_RAW:
			return "core";
		}
	return enc->pmu[0] ? enc->pmu : "core";
}

/*
 * Is it counted by the exact engine, or would the engine count it if the list has an event of its
 * own? See engine_choose().
 */
static bool by_exact_engine(const struct encoding *enc)
{
	uint64_t generic = enc->attr.config & UINT32_MAX; /* the upper half is a PMU */

	return encoding_source(enc)->needs_engine ||
		(enc->attr.type == PERF_TYPE_HARDWARE && !enc->attr.exclude_user &&
		 (generic == PERF_COUNT_HW_INSTRUCTIONS ||
		  generic == PERF_COUNT_HW_BRANCH_INSTRUCTIONS));
}

/* The engine counts the whole group, so it is one group. */
static bool all_by_exact_engine(const struct encoding_list *list, size_t first, size_t end)
{
	bool all = true, named = false;

	for (size_t i = first; i < end; i++) {
		all &= by_exact_engine(&list->enc[i]);
		named |= encoding_source(&list->enc[i])->needs_engine;
	}
	return all && named;
}

static bool same(const struct encoding *a, const struct encoding *b)
{
	return !strcmp(key_of(a), key_of(b));
}

/*
 * Every event that needs a PMU must share one with the first such event; otherwise they can never
 * be counted together.
 */
static int check_together(const struct event_list *events, const struct encoding_list *list,
			  size_t first, size_t end, struct tare_error *err)
{
	size_t lead = first;

	while (lead < end && !key_of(&list->enc[lead])[0])
		lead++;
	for (size_t i = lead; i < end; i++) {
		bool shared = !key_of(&list->enc[i])[0];

		for (size_t j = first; j < end && !shared; j++)
			shared = list->enc[j].event == list->enc[lead].event &&
				same(&list->enc[i], &list->enc[j]);
		for (size_t j = first; j < end && !shared;
		     j++) /* or another instance of the same event does */
			for (size_t k = first;
			     k < end && !shared && list->enc[j].event == list->enc[i].event; k++)
				shared = list->enc[k].event == list->enc[lead].event &&
					same(&list->enc[j], &list->enc[k]);
		if (shared)
			continue;
		tare_fail_at(err, events->event[list->enc[i].event].at, EINVAL,
			     "%.100s cannot be in one group with %.100s: they are on different "
			     "PMUs (%.60s, %.60s)",
			     list->enc[i].name, list->enc[lead].name,
			     list->enc[i].pmu[0] ? list->enc[i].pmu : "the core PMU",
			     list->enc[lead].pmu[0] ? list->enc[lead].pmu : "the core PMU");
		tare_hint(err, "write them outside the braces, or as groups of their own");
		return -EINVAL;
	}
	return 0;
}

int encoder_regroup(const struct event_list *events, struct encoding_list *out,
		    struct tare_error *err)
{
	unsigned *fresh = calloc(out->n ? out->n : 1, sizeof(*fresh));
	int ret = 0;

	if (!fresh)
		return tare_fail_nomem(err);
	for (size_t first = 0, end; ret == 0 && first < out->n; first = end) {
		bool split = false;
		const struct encoding *lead = NULL;

		for (end = first; end < out->n && out->enc[end].group == out->enc[first].group;
		     end++) {
			const struct encoding *enc = &out->enc[end];

			if (!key_of(enc)[0])
				continue;
			split |= lead && !same(lead, enc);
			lead = lead ? lead : enc;
		}
		split &= !all_by_exact_engine(out, first, end);
		if (split && end - first > GROUP_MAX &&
		    out->enc[first].event != out->enc[end - 1].event)
			ret = tare_fail_at(
				err, events->event[out->enc[first].event].at, EINVAL,
				"a group over several PMUs may have %d counters, not %zu",
				GROUP_MAX, end - first);
		else if (split)
			ret = check_together(events, out, first, end, err);
		for (size_t i = first; i < end; i++) {
			size_t j = first;

			while (j < i && split && !same(&out->enc[j], &out->enc[i]))
				j++;
			fresh[i] = j < i ? fresh[j] : out->groups++;
		}
	}
	for (size_t i = 0; ret == 0 && i < out->n; i++)
		out->enc[i].group = fresh[i];
	free(fresh);
	return ret;
}
