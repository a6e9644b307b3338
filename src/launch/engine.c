/* SPDX-License-Identifier: MIT */
/*
 * Selects the engine. The exact engine counts user mode, and instructions by class. So of the
 * generic events it can count `instructions` and `branches`, under names that show that kernel mode
 * is excluded. It runs the program by binary translation, so the processor's counters would mostly
 * count the engine.
 */
#include <stdio.h>
#include <string.h>
#include "exact/classes.h"
#include "launch/engine.h"

bool engine_counts(const struct encoding *e)
{
	return encoding_source(e)->needs_engine;
}

/* instructions/period=1000/ without further terms. */
static bool has_period(const char *name)
{
	static const char *const generic[] = { "instructions", "branches", "branch-instructions" };
	const char *term = strchr(name, '/');
	bool known = false;

	for (size_t i = 0; term && i < ARRAY_SIZE(generic); i++)
		known |= (size_t)(term - name) == strlen(generic[i]) &&
			!strncmp(name, generic[i], strlen(generic[i]));
	return known && !strncmp(term, "/period=", 8) && !strchr(term, ',');
}

/*
 * The user named no PMU; on a machine with several types of core the event appears once per type.
 */
static bool is_bare(const struct encoding_list *list, size_t i)
{
	return !strchr(list->enc[i].name, '/') || has_period(list->enc[i].name) ||
		(i && list->enc[i - 1].event == list->enc[i].event) ||
		(i + 1 < list->n && list->enc[i + 1].event == list->enc[i].event);
}

/* The class of a generic event, or -1. The upper half of config selects a PMU. */
static int class_of(const struct encoding_list *list, size_t i)
{
	const struct encoding *e = &list->enc[i];

	if (engine_counts(e) || e->attr.type != PERF_TYPE_HARDWARE || e->attr.exclude_user ||
	    e->attr.exclude_host || !is_bare(list, i))
		return -1;
	switch (e->attr.config & UINT32_MAX) {
	case PERF_COUNT_HW_INSTRUCTIONS:
		return EXACT_INSTRUCTIONS;
	case PERF_COUNT_HW_BRANCH_INSTRUCTIONS:
		return EXACT_BRANCHES;
	}
	return -1;
}

bool engine_could_count(const struct encoding_list *list, size_t i)
{
	return class_of(list, i) >= 0;
}

static void name_as_user(struct encoding *e)
{
	char *mods, *slash = strrchr(e->name, '/');
	size_t n;

	if (has_period(e->name)) {
		*strchr(e->name, '/') = '\0';
	} else if (slash) { /* cpu_core/instructions/u */
		*slash = '\0';
		slash = strchr(e->name, '/');
		memmove(e->name, slash ? slash + 1 : e->name,
			strlen(slash ? slash + 1 : e->name) + 1);
	}
	mods = strrchr(e->name, ':');
	if (mods && strspn(mods + 1, "ukhGHIpPSDWe") == strlen(mods + 1))
		*mods = '\0';
	n = strlen(e->name);
	snprintf(e->name + n, sizeof(e->name) - n, ":u");
}

static void give(struct encoding *e, int class)
{
	name_as_user(e);
	snprintf(e->pmu, sizeof(e->pmu), "exact");
	e->source = &source_exact;
	e->attr.type = PERF_TYPE_MAX;
	e->attr.config = (uint64_t) class;
	e->attr.exclude_kernel = e->attr.exclude_hv = 1;
	e->attr.exclude_guest = 0;
	cpus_free(&e->cpus);
	e->place = PLACE_TASK;
	e->unavailable = 0;
}

static void drop(struct encoding_list *list, size_t i)
{
	cpus_free(&list->enc[i].cpus);
	memmove(&list->enc[i], &list->enc[i + 1], (list->n - i - 1) * sizeof(list->enc[i]));
	list->n--;
}

static void refuse(struct encoding *e, int code, const char *why, const char *remedy)
{
	e->unavailable = code;
	snprintf(e->why, sizeof(e->why), "%.255s", why);
	snprintf(e->remedy, sizeof(e->remedy), "%.199s", remedy);
}

/*
 * Events that are wrong under the engine: the processor's counters, and breakpoints on code that
 * moves.
 */
static bool is_spoilt(const struct encoding *e)
{
	if (e->unavailable || e->place == PLACE_UNCORE || !encoding_source(e)->kernel)
		return false;
	return e->attr.type != PERF_TYPE_SOFTWARE && e->attr.type != PERF_TYPE_TRACEPOINT;
}

static void give_all(struct encoding_list *list, bool apart)
{
	unsigned groups = list->groups;

	for (size_t i = 0; i < list->n; i++) {
		struct encoding *e = &list->enc[i];
		int class = class_of(list, i);

		if (class >= 0) {
			give(e, class);
			while (i + 1 < list->n && list->enc[i + 1].event == e->event)
				drop(list, i + 1); /* the same event on another type of core */
		} else if (!apart && is_spoilt(e)) {
			refuse(e, EOPNOTSUPP,
			       "under the exact engine it would count the engine's own work",
			       "--clean-times counts it in runs without the engine; --engine perf "
			       "does "
			       "without exact counts");
		}
	}
	/* Never multiplexed, so they need no group with others. */
	for (size_t i = 0; i < list->n; i++)
		if (engine_counts(&list->enc[i]))
			list->enc[i].group += groups;
	list->groups = 2 * groups;
}

/* Whether this user can really open it here, in user mode at least. */
static bool has_counter(const struct encoding *e, const struct source *instead)
{
	const struct source *source = instead ? instead : encoding_source(e);
	const struct target on = { .cpu = -1, .cgroup_fd = -1 };
	struct encoding user = *e;
	const struct encoding *one = &user;
	struct counters *c;

	if (e->unavailable || source->clock)
		return false;
	user.attr.exclude_kernel = user.attr.exclude_hv = 1;
	if (source->open(&c, &one, 1, &on, NULL, NULL) < 0)
		return false;
	source->close(c);
	return true;
}

static void refuse_exact(struct encoding_list *list, int code, const char *why, const char *remedy)
{
	for (size_t i = 0; i < list->n; i++)
		if (engine_counts(&list->enc[i])) {
			refuse(&list->enc[i], code, why, remedy);
			/* the rest of its group stays available */
			list->enc[i].group += list->groups;
		}
	list->groups *= 2;
}

/* Events of core PMUs are counted by their registers, on whole CPUs; all others as before. */
static void by_registers(struct encoding_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (is_spoilt(&list->enc[i]) && list->enc[i].attr.type != PERF_TYPE_BREAKPOINT)
			list->enc[i].source = &source_msr;
}

int engine_choose(struct encoding_list *list, const struct engine_question *q,
		  struct tare_error *err)
{
	const struct encoding *named = NULL;
	bool wanted = false, pmu = false;

	for (size_t i = 0; i < list->n; i++) {
		const struct encoding *e = &list->enc[i];

		if (engine_counts(e) && !named)
			named = e;
		if (class_of(list, i) < 0)
			continue;
		wanted = true;
		if (q->wish == ENGINE_AUTO && !named)
			pmu |= has_counter(e, q->source);
	}
	if ((q->wish == ENGINE_PERF || q->wish == ENGINE_MSR) && named) {
		tare_fail(err, EINVAL,
			  "%.100s is counted by the exact engine, and --engine %s leaves it out",
			  named->name, q->wish == ENGINE_MSR ? "msr" : "perf");
		tare_hint(err, "--engine exact, or auto");
		return -EINVAL;
	}
	if (q->wish == ENGINE_EXACT && q->cannot) {
		if (err)
			*err = *q->cannot;
		return -q->cannot->code;
	}
	if (q->wish == ENGINE_MSR) {
		by_registers(list);
		return 0;
	}
	if (q->wish == ENGINE_PERF || (q->wish == ENGINE_AUTO && !named && (!wanted || pmu)))
		return 0;
	if (q->cannot) {
		/* a reason that the user can act on, if the machine cannot be changed */
		for (size_t i = 0; i < list->n; i++)
			if (list->enc[i].unavailable && class_of(list, i) >= 0)
				snprintf(list->enc[i].remedy, sizeof(list->enc[i].remedy), "%.199s",
					 q->cannot->what);
		if (named)
			refuse_exact(list, q->cannot->code, q->cannot->what, q->cannot->hint);
		return 0;
	}
	give_all(list, q->apart);
	return 1;
}

void engine_give_up(struct encoding_list *list, const struct tare_error *why)
{
	for (size_t i = 0; i < list->n; i++)
		if (engine_counts(&list->enc[i]))
			refuse(&list->enc[i], why->code, why->what, why->hint);
}
