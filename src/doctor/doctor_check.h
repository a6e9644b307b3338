/* SPDX-License-Identifier: MIT */
/*
 * Shared by the checks of a diagnosis: how to query facts and write findings. For doctor*.c only.
 */
#ifndef DOCTOR_DOCTOR_CHECK_H
#define DOCTOR_DOCTOR_CHECK_H

#include "doctor/doctor_rows.h"

/*
 * One check: facts to a finding. Returns false, without a finding, where it does not apply. The
 * mark is OK unless the check sets another. Results of trying on this machine take precedence over
 * what its knobs suggest.
 */
struct check {
	const char *id; /* a table ends with NULL */
	bool (*judge)(const struct host *h, struct finding *f);
};

extern const struct check doctor_counting[];           /* what can be counted */
extern const struct check doctor_environment_checks[]; /* what else affects counting */
extern const struct check doctor_noise_checks[];       /* what makes runs vary */

/* A finding for each known fault that applies, or one that there are none; returns how many. */
unsigned doctor_faults(const struct host *h, struct finding *out, unsigned room);

/* Constants of linux/capability.h that older headers lack. */
enum { CAP_SYS_ADMIN_BIT = 21, CAP_SYSLOG_BIT = 34, CAP_PERFMON_BIT = 38 };

/* Formats into an array of the finding; a text that does not fit is truncated. */
#define SAY(to, ...) doctor_say(to, sizeof(to), __VA_ARGS__)

void doctor_say(char *to, size_t room, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Adds a remedy, if there is room. */
void doctor_fix(struct finding *f, enum place place, bool as_root, const char *effect,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void doctor_fix_rows(struct finding *f, const struct fix *rows, size_t n);
/* sysctl knob=value, here or on the host of this container. */
void doctor_fix_knob(const struct host *h, struct finding *f, const char *knob, long value);

/*
 * The highest kernel.perf_event_paranoid at which an unprivileged user may do this. 3 (Debian,
 * Android) and 4 (Ubuntu) are distribution patches and allow nothing. Source: kernel.org,
 * "Documentation for /proc/sys/kernel", perf_event_paranoid.
 */
enum { LEVEL_OWN_USER = 2, LEVEL_KERNEL = 1, LEVEL_CPU_WIDE = 0 };

static inline bool has(const struct host *h, unsigned capability)
{
	return h->capabilities_known && h->capabilities >> capability & 1;
}

/*
 * The kernel's perfmon_capable(): in the initial user namespace only. The distributions' levels
 * above 2 require more: Debian's 6.1 refuses CAP_PERFMON there (tested in tests/guest).
 */
static inline bool privileged(const struct host *h)
{
	return !h->user_namespace &&
		(has(h, CAP_SYS_ADMIN_BIT) ||
		 (has(h, CAP_PERFMON_BIT) && h->paranoid <= LEVEL_OWN_USER));
}

/* Knobs are set on the host of a container, and by its root, not by root in a user namespace. */
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

/* Unavailable here, as opposed to not permitted. */
static inline bool absent(const struct attempt *a)
{
	return refused(a) &&
		(a->code == ENOENT || a->code == EOPNOTSUPP || a->code == ENODEV ||
		 a->code == ENXIO);
}

/* What prevents a program from counting itself in user mode. */
enum barrier {
	BARRIER_NONE,
	BARRIER_KNOB,     /* perf_event_paranoid */
	BARRIER_FILTER,   /* seccomp, or a sandbox that replaces the kernel */
	BARRIER_ABSENT,   /* a kernel without perf events */
	BARRIER_SECURITY, /* SELinux or another security module */
	BARRIER_OTHER,    /* out of descriptors or memory */
};

/* "kernel.nmi_watchdog is 1", or that it cannot be read: for a message, in .s */
struct knob_words {
	char s[80];
};

struct knob_words doctor_knob(const char *knob, long value);

enum barrier doctor_barrier(const struct host *h);
/* Instructions or cycles can be counted on some core PMU. */
bool doctor_hardware_works(const struct host *h);

const char *doctor_errno_name(int code);
/* "cpu", or "cpu_core on CPUs 0-7, cpu_atom on CPUs 8-15". */
void doctor_pmu_names(const struct host *h, char *out, size_t room);
/* "instructions:u opens and counts nothing": the end of a sentence. */
void doctor_outcome_words(const struct attempt *a, const char *event, char *out, size_t room);

#endif
