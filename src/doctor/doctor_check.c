/* SPDX-License-Identifier: MIT */
/* Derives conclusions from the facts, and writes findings and their remedies. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "doctor/doctor_check.h"

__attribute__((format(printf, 3, 4))) void doctor_say(char *to, size_t room, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(to, room, fmt, ap);
	va_end(ap);
}

void doctor_fix(struct finding *f, enum place place, bool as_root, const char *effect,
		const char *fmt, ...)
{
	va_list ap;

	if (f->fixes == FIXES_MAX)
		return;

	struct fix *x = &f->fix[f->fixes++];

	x->place = place;
	x->as_root = as_root;
	SAY(x->effect, "%s", effect);
	va_start(ap, fmt);
	vsnprintf(x->text, sizeof(x->text), fmt, ap);
	va_end(ap);
}

void doctor_fix_rows(struct finding *f, const struct fix *rows, size_t n)
{
	for (size_t i = 0; i < n && rows[i].text[0] && f->fixes < FIXES_MAX; i++)
		f->fix[f->fixes++] = rows[i];
}

void doctor_fix_knob(const struct host *h, struct finding *f, const char *knob, long value)
{
	doctor_fix(f, place_of_knobs(h), true, "until the next boot", "sysctl %s=%ld", knob, value);
}

struct knob_words doctor_knob(const char *knob, long value)
{
	struct knob_words w;

	if (value == HOST_UNKNOWN)
		SAY(w.s, "%s cannot be read", knob);
	else
		SAY(w.s, "%s is %ld", knob, value);
	return w;
}

enum barrier doctor_barrier(const struct host *h)
{
	const struct attempt *a = &h->tries[TRY_TASK_CLOCK];

	if (!h->live) {
		if (h->paranoid == HOST_UNKNOWN)
			return BARRIER_ABSENT;
		return allowed_by_knobs(h, LEVEL_OWN_USER) ? BARRIER_NONE : BARRIER_KNOB;
	}
	if (!refused(a))
		return BARRIER_NONE;
	if (a->code == ENOSYS)
		return h->paranoid == HOST_UNKNOWN && h->seccomp != 2 ? BARRIER_ABSENT
								      : BARRIER_FILTER;
	/* The knob fails with EACCES; EPERM from this call comes from a filter. */
	if (a->code == EPERM && h->seccomp == 2)
		return BARRIER_FILTER;
	if (a->code != EACCES && a->code != EPERM)
		return BARRIER_OTHER;
	return h->paranoid == HOST_UNKNOWN || allowed_by_knobs(h, LEVEL_OWN_USER) ? BARRIER_SECURITY
										  : BARRIER_KNOB;
}

bool doctor_hardware_works(const struct host *h)
{
	bool any = works(&h->tries[TRY_INSTRUCTIONS]) || works(&h->tries[TRY_CYCLES]);

	for (unsigned i = 0; i < h->pmus; i++)
		any |= works(&h->pmu[i].instructions) || works(&h->pmu[i].cycles);
	return any;
}

const char *doctor_errno_name(int code)
{
	static const struct {
		int code;
		const char *name;
	} rows[] = {
		{ EACCES, "EACCES" }, { EPERM, "EPERM" },           { ENOSYS, "ENOSYS" },
		{ ENOENT, "ENOENT" }, { EOPNOTSUPP, "EOPNOTSUPP" }, { ENODEV, "ENODEV" },
		{ EBUSY, "EBUSY" },   { EINVAL, "EINVAL" },         { EMFILE, "EMFILE" },
		{ ENOMEM, "ENOMEM" }, { ENXIO, "ENXIO" },           { EFAULT, "the CPU" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].code == code)
			return rows[i].name;
	return strerror(code);
}

void doctor_pmu_names(const struct host *h, char *out, size_t room)
{
	size_t at = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < h->pmus && at < room; i++)
		at += (size_t)snprintf(out + at, room - at, "%s%s%s%s", i ? ", " : "",
				       h->pmu[i].name,
				       h->pmu[i].cpus[0] && h->pmus > 1 ? " on CPUs " : "",
				       h->pmus > 1 ? h->pmu[i].cpus : "");
}

void doctor_outcome_words(const struct attempt *a, const char *event, char *out, size_t room)
{
	switch (a->outcome) {
	case OUTCOME_UNTRIED:
		snprintf(out, room, "%s was not tested", event);
		break;
	case OUTCOME_REFUSED:
		snprintf(out, room, "%s is refused (%s)", event, doctor_errno_name(a->code));
		break;
	case OUTCOME_OFF:
		snprintf(out, room, "%s opens but is never scheduled on a counter", event);
		break;
	case OUTCOME_ZERO:
		snprintf(out, room, "%s opens and counts nothing", event);
		break;
	case OUTCOME_WRONG:
		snprintf(out, room, "%s counts %llu, but %llu to %llu are correct", event,
			 (unsigned long long)a->count, (unsigned long long)a->low,
			 (unsigned long long)a->high);
		break;
	case OUTCOME_SHARED:
		snprintf(out, room, "%s counts only %llu %% of the time", event,
			 (unsigned long long)(a->enabled_ns ? 100 * a->running_ns / a->enabled_ns
							    : 0));
		break;
	case OUTCOME_COUNTED:
		snprintf(out, room, "%s counts a loop of known length correctly", event);
		break;
	}
}
