/* SPDX-License-Identifier: MIT */
/*
 * The modes (user, kernel) in which the kernel can distinguish an event's counts; and restriction
 * of an encoding to one mode, with its name changed to show that.
 */
#include <stdio.h>
#include <string.h>
#include "pmu/pmu.h"

/* Alignment and emulation faults are distinguished like page faults; dummy is always 0. */
static const struct {
	uint64_t config;
	enum encoding_modes modes;
} software[] = {
	{ PERF_COUNT_SW_CPU_CLOCK, MODES_CLOCK },
	{ PERF_COUNT_SW_TASK_CLOCK, MODES_CLOCK },
	{ PERF_COUNT_SW_CONTEXT_SWITCHES, MODES_IN_KERNEL },
	{ PERF_COUNT_SW_CPU_MIGRATIONS, MODES_IN_KERNEL },
	{ PERF_COUNT_SW_CGROUP_SWITCHES, MODES_IN_KERNEL },
	{ PERF_COUNT_SW_BPF_OUTPUT, MODES_NO_COUNT },
};

enum encoding_modes encoding_modes(const struct encoding *e)
{
	if (!encoding_source(e)->kernel)
		return MODES_OF_PMU;
	switch (e->attr.type) {
	case PERF_TYPE_BREAKPOINT:
		return MODES_TOLD;
	case PERF_TYPE_TRACEPOINT:
		return e->in_user ? MODES_IN_USER : MODES_IN_KERNEL;
	case PERF_TYPE_SOFTWARE:
		for (size_t i = 0; i < sizeof(software) / sizeof(*software); i++)
			if (software[i].config == e->attr.config)
				return software[i].modes;
		return MODES_TOLD;
	}
	return MODES_OF_PMU;
}

/*
 * The position of the modifiers in its name, maybe an empty string after a slash; NULL: there is no
 * place for modifiers.
 */
static char *modifiers(struct encoding *e)
{
	bool terms = e->attr.type != PERF_TYPE_TRACEPOINT && e->attr.type != PERF_TYPE_BREAKPOINT;
	char *colon = strrchr(e->name, ':'), *slash = terms ? strrchr(e->name, '/') : NULL,
	     *at = slash && (!colon || slash > colon) ? slash : colon;

	if (!at || (e->attr.type == PERF_TYPE_TRACEPOINT && at == strchr(e->name, ':')))
		return NULL;
	at++;
	return strspn(at, "ukhGHIpPSDWe") == strlen(at) ? at : NULL;
}

void encoding_restrict(struct encoding *e, bool user)
{
	/* cycles:k with --all-user: opening it will fail */
	bool nothing_left = user ? e->attr.exclude_user : e->attr.exclude_kernel;
	char *mods = modifiers(e), *to = mods;
	size_t n;

	if (user)
		e->attr.exclude_kernel = e->attr.exclude_hv = 1;
	else
		e->attr.exclude_user = 1;
	if (nothing_left ||
	    (mods && strchr(mods, user ? 'u' : 'k') && !strpbrk(mods, user ? "kh" : "uh")))
		return;
	for (const char *p = mods; p && *p; p++)
		if (!strchr("ukh", *p))
			*to++ = *p;
	if (to)
		*to = '\0';
	n = strlen(e->name);
	if (n + 3 < sizeof(e->name))
		snprintf(e->name + n, 3, "%s%s", mods ? "" : ":", user ? "u" : "k");
}
