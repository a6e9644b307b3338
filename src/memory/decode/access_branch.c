/* SPDX-License-Identifier: MIT */
/*
 * Decodes a sample of a branch event as a branch, as `tare record --precise=branches` records them.
 */
#include <string.h>
#include "memory/decode/access.h"

/*
 * PERF_COUNT_HW_BRANCH_INSTRUCTIONS, _MISSES. Source: linux/perf_event.h. BR_INST_RETIRED,
 * BR_MISP_RETIRED. Source: Intel SDM vol. 3B, 20.2.1.
 */
enum {
	TYPE_HARDWARE = 0,
	TYPE_RAW = 4,
	BRANCHES = 4,
	BRANCH_MISSES = 5,
	BR_INST_RETIRED = 0xc4,
	BR_MISP_RETIRED = 0xc5
};

enum { MISPREDICTED = 1, PREDICTED = 2 };

/* On a hybrid machine each core PMU has its own type number, and its events have names. */
static bool of_core(const struct perfdata_event *ev)
{
	return ev->attr.type == TYPE_RAW || !strncmp(ev->name, "cpu/", 4) ||
		!strncmp(ev->name, "cpu_", 4);
}

bool access_from_branch(const struct perfdata_record *rec, bool intel, struct tare_access *out)
{
	const struct perfdata_event *ev = rec->event;
	const struct perfdata_branch *b = rec->has & PD_SAMPLE_BRANCH_STACK &&
			rec->sample.n_branches
		? rec->sample.branches
		: NULL;
	uint64_t code = ev ? ev->attr.config & 0xff : 0;
	bool hardware = ev && ev->attr.type == TYPE_HARDWARE, core = ev && intel && of_core(ev);
	bool missed = (hardware && code == BRANCH_MISSES) || (core && code == BR_MISP_RETIRED);

	if (!missed && !(hardware && code == BRANCHES) && !(core && code == BR_INST_RETIRED))
		return false;
	out->kind = TARE_ACCESS_BRANCH;
	out->origin = !strncmp(ev->name, "exact/", 6) ? TARE_FROM_EXACT : TARE_FROM_PEBS;
	if (missed) {
		out->has |= TARE_ACCESS_MISPREDICTED;
		out->mispredicted = true;
	}
	if (access_from_exact(rec, out) || !b || b->from != out->ip)
		return true;
	out->has |= TARE_ACCESS_TARGET | TARE_ACCESS_TAKEN;
	out->target = b->to;
	out->taken = true; /* other branches are not recorded */
	if (!missed && b->flags & (MISPREDICTED | PREDICTED)) {
		out->has |= TARE_ACCESS_MISPREDICTED;
		out->mispredicted = b->flags & MISPREDICTED;
	}
	return true;
}
