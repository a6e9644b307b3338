/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/stat/stat_irqs.h"
#include "pmu/interrupts.h"
#include "launch/engine.h"

static const char name[] = "instructions-minus-irqs";

/* Compares the encodings with the generated pair; an event of the user's may have the same name. */
static bool is_pair(const struct encoding_list *list, size_t i)
{
	const struct encoding *e = &list->enc[i];

	return e->attr.type == PERF_TYPE_HARDWARE && e->attr.config == PERF_COUNT_HW_INSTRUCTIONS &&
		e->attr.exclude_kernel && i + 1 < list->n && e[1].event == e->event + 1 &&
		e[1].group == e->group;
}

/* This CPU's interrupts event if it can be used without a test; otherwise the reason. */
static bool usable(struct interrupts_event *out, struct machine *m, struct tare_error *why)
{
	const struct pmu *const *cores;
	size_t n;

	if (machine_cores(m, &cores, &n, why) < 0)
		return false;
	if (n == 0) {
		tare_fail(why, ENOENT, "this machine has no core PMU to count interrupts");
		tare_hint(
			why,
			"instructions:u with the exact engine is not disturbed by interrupts: --engine exact -e instructions:u");
		return false;
	}
	if (interrupts_of_cpu(out, machine_cpu(m), why) < 0)
		return false;
	if (n > 1) {
		tare_fail(
			why, ENOTSUP,
			"this machine has several kinds of core, and their interrupt events are unknown");
		tare_hint(why, "--engine exact -e instructions:u, which interrupts do not disturb");
		return false;
	}
	if (strcmp(out->known, "guessed"))
		return true;
	tare_fail(why, ENOTSUP, "that %s counts the interrupts of this CPU (%s) is only a guess",
		  out->event, machine_cpu(m));
	tare_hint(
		why,
		"tare regions tests it when it records; or --engine exact -e instructions:u, which interrupts do not disturb");
	return false;
}

bool stat_irqs_is(const struct event *e)
{
	return e->kind == EVENT_NAME && !strcmp(e->name, name);
}

static bool is_user_alone(const struct event_mods *m)
{
	return m->given && m->user && !m->kernel && !m->hypervisor && !m->guest && !m->host &&
		!m->precise && !m->precise_max && !m->sample_read;
}

static int check(const struct event_list *events, size_t i, struct tare_error *err)
{
	const struct event *e = &events->event[i];
	bool shared = (i && events->event[i - 1].group == e->group) ||
		(i + 1 < events->n && events->event[i + 1].group == e->group);

	if (is_user_alone(&e->mods) && !shared)
		return 0;
	tare_fail_at(err, e->at, EINVAL,
		     shared ? "%.80s is a group of its own and cannot be in another one"
			    : "%.80s counts user mode and takes no other modifier",
		     e->text);
	tare_hint(err, "%s", INSTRUCTIONS_MINUS_IRQS);
	return -EINVAL;
}

/* Moves the last event after `i`, into its group. */
static void move_behind(struct event_list *events, size_t i)
{
	struct event last = events->event[events->n - 1];

	last.group = events->event[i].group;
	memmove(&events->event[i + 2], &events->event[i + 1], (events->n - i - 2) * sizeof(last));
	events->event[i + 1] = last;
}

int stat_irqs_expand(struct event_list *events, struct machine *m, struct tare_error *err)
{
	struct interrupts_event irqs;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < events->n; i++) {
		if (!stat_irqs_is(&events->event[i]))
			continue;
		ret = check(events, i, err);
		if (ret < 0)
			break;
		events->event[i].name = "instructions";
		events->event[i].label = INSTRUCTIONS_MINUS_IRQS;
		if (!usable(&irqs, m, NULL))
			continue;
		ret = event_list_parse(irqs.event, events, err);
		if (ret == 0)
			move_behind(events, i);
	}
	return ret;
}

static void refuse(struct encoding *e, const struct tare_error *why)
{
	e->unavailable = why->code;
	e->source = &source_perf;
	/* So that no engine treats it as instructions:u. */
	e->attr.type = PERF_TYPE_RAW;
	e->attr.config = 0;
	e->unencoded = true;
	snprintf(e->why, sizeof(e->why), "%.250s", why->what);
	snprintf(e->remedy, sizeof(e->remedy), "%.190s", why->hint);
}

int stat_irqs_find(struct stat_irqs *out, struct encoding_list *list, struct machine *m,
		   struct tare_error *err)
{
	struct interrupts_event irqs;

	out->less = calloc(list->n + 1, sizeof(*out->less));
	if (!out->less)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < list->n; i++) {
		struct encoding *e = &list->enc[i];
		struct tare_error why = TARE_ERROR_INIT;
		struct summary_less *less = &out->less[out->n];

		if (!strstr(e->name,
			    /* with several kinds of core: cpu_core/.../ */
			    INSTRUCTIONS_MINUS_IRQS))
			continue;
		if (!usable(&irqs, m, &why)) {
			refuse(e, &why);
			continue;
		}
		if (!is_pair(list, i)) {
			tare_fail(&why, EINVAL, "that is the name of another event");
			tare_hint(&why, "give it another by name=");
			refuse(e, &why);
			continue;
		}
		less->event = (unsigned)i;
		less->by = (unsigned)i + 1;
		snprintf(less->known, sizeof(less->known), "%s", irqs.note);
		out->n++;
	}
	return 0;
}

void stat_irqs_settle(struct stat_irqs *s, struct encoding_list *list)
{
	struct tare_error why = TARE_ERROR_INIT;

	tare_fail(
		&why, ENOTSUP,
		"the exact engine counts here, and interrupts do not affect it: there is nothing to subtract");
	tare_hint(&why, "-e instructions:u");
	for (size_t i = 0; i < s->n; i++)
		if (engine_counts(&list->enc[s->less[i].event])) {
			refuse(&list->enc[s->less[i].event], &why);
			s->less[i--] = s->less[--s->n];
		}
}

void stat_irqs_free(struct stat_irqs *s)
{
	free(s->less);
	*s = (struct stat_irqs){ 0 };
}
