/* SPDX-License-Identifier: MIT */
/* What the checks of a diagnosis share: how facts are asked and findings written. For doctor*.c
 * alone. */
#ifndef DOCTOR_DOCTOR_CHECK_H
#define DOCTOR_DOCTOR_CHECK_H

#include "doctor/doctor_rows.h"

/*
 * One check: facts to a finding. It says nothing (returns false) where it does not apply. The mark
 * is OK unless it sets another. What was tried on this machine outweighs what its knobs promise.
 */
struct check {
	const char *id; /* NULL ends a table */
	bool (*judge)(const struct host *h, struct finding *f);
};

extern const struct check doctor_counting[];     /* what can be counted */
extern const struct check doctor_surroundings[]; /* what else bears on it */
extern const struct check doctor_surround[];	  /* what makes counts and times differ from run to run */

/* A finding for each known fault that shows, or one that none does; how many. */
unsigned doctor_faults(const struct host *h, struct finding *out, unsigned room);

/* Numbers of linux/capability.h, which older headers lack. */
enum { CAP_SYS_ADMIN_BIT = 21, CAP_SYSLOG_BIT = 34, CAP_PERFMON_BIT = 38 };

/* Into an array of the finding; a text that is too long ends where there is no more room. */
#define SAY(to, ...) doctor_say(to, sizeof(to), __VA_ARGS__)

void doctor_say(char *to, size_t room, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* One more remedy, while there is room. */
void doctor_fix(struct finding *f, enum place place, bool as_root, const char *effect,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void doctor_fix_rows(struct finding *f, const struct fix *rows, size_t n);
/* sysctl knob=value, here or on the machine under this container. */
void doctor_fix_knob(const struct host *h, struct finding *f, const char *knob, long value);

/*
 * The highest kernel.perf_event_paranoid at which an unprivileged user may do this. 3 (Debian,
 * Android) and 4 (Ubuntu) are distributions' own: nothing at all. Source: kernel.org,
 * "Documentation for /proc/sys/kernel", perf_event_paranoid.
 */
enum { LEVEL_OWN_USER = 2, LEVEL_KERNEL = 1, LEVEL_CPU_WIDE = 0 };

static inline bool has(const struct host *h, unsigned capability)
{
	return h->capabilities_known && h->capabilities >> capability & 1;
}

/*
 * What the kernel calls perfmon_capable(): in the initial user namespace only. The distributions'
 * own levels above 2 ask for more: Debian's 6.1 refuses CAP_PERFMON there (tests/guest tries it).
 */
static inline bool privileged(const struct host *h)
{
	return !h->user_namespace && (has(h, CAP_SYS_ADMIN_BIT) ||
				      (has(h, CAP_PERFMON_BIT) && h->paranoid <= LEVEL_OWN_USER));
}

/* Knobs are turned on the machine under a container, and by its root: not by that of a user
 * namespace. */
static inline enum place place_of_knobs(const struct host *h)
{
	return h->knobs_read_only || h->user_namespace ? FIX_HOST : FIX_HERE;
}

static inline bool allowed_by_knobs(const struct host *h, long level)
{
	return h->paranoid != HOST_UNKNOWN && (privileged(h) || h->paranoid <= level);
}

static inline bool refused(const struct attempt *a)
{
	return a->outcome == OUTCOME_REFUSED;
}

static inline bool works(const struct attempt *a)
{
	return a->outcome == OUTCOME_COUNTED || a->outcome == OUTCOME_SHARED;
}

/* Not for want of permission but because there is no such thing here. */
static inline bool absent(const struct attempt *a)
{
	return refused(a) && (a->code == ENOENT || a->code == EOPNOTSUPP || a->code == ENODEV ||
			      a->code == ENXIO);
}

/* Who stands in the way of a program that counts itself, in user mode. */
enum barrier {
	BARRIER_NONE,
	BARRIER_KNOB,     /* perf_event_paranoid */
	BARRIER_FILTER,   /* seccomp, or a sandbox in the kernel's place */
	BARRIER_ABSENT,   /* a kernel without perf events */
	BARRIER_SECURITY, /* SELinux, another security module */
	BARRIER_OTHER,    /* no descriptors, no memory */
};

/* "kernel.nmi_watchdog is 1", or that it cannot be read: for a message, .s */
struct knob_words {
	char s[80];
};

struct knob_words doctor_knob(const char *knob, long value);

enum barrier doctor_barrier(const struct host *h);
/* Instructions or cycles count on some core PMU. */
bool doctor_hardware_works(const struct host *h);

const char *doctor_errno_name(int code);
/* "cpu", or "cpu_core on CPUs 0-7, cpu_atom on CPUs 8-15". */
void doctor_pmu_names(const struct host *h, char *out, size_t room);
/* "instructions:u opens and counts nothing": the end of a sentence. */
void doctor_outcome_words(const struct attempt *a, const char *event, char *out, size_t room);

#endif
