/* SPDX-License-Identifier: MIT */
/* Checks of what affects counting: watchdog, hypervisor, container, knobs. One row each. */
#include <stdio.h>
#include "doctor/doctor_check.h"

static bool check_watchdog(const struct host *h, struct finding *f)
{
	if (h->nmi_watchdog == HOST_UNKNOWN || h->pmus == 0)
		return false;
	if (h->nmi_watchdog == 0) {
		SAY(f->what, "the NMI watchdog uses no counter");
		return true;
	}
	f->mark = MARK_WARN;
	SAY(f->what, "the NMI watchdog uses one counter of every CPU");
	SAY(f->why,
	    "Groups that need all counters do not fit, and cycles may lose its own counter.");
	doctor_fix_knob(h, f, "kernel.nmi_watchdog", 0);
	return true;
}

static bool check_hypervisor(const struct host *h, struct finding *f)
{
	const struct hypervisor *vm = hypervisor_of(h);

	if (!vm) {
		if (!h->cpu.vendor[0])
			return false; /* not reported on arm64: a missing report proves nothing */
		SAY(f->what, "no hypervisor detected: the counters are those of the processor");
		return true;
	}
	SAY(f->what, "a virtual machine under %s%s%s%s: %s", vm->name, h->platform[0] ? " (" : "",
	    h->platform, h->platform[0] ? ")" : "",
	    h->pmus ? "it has a virtual PMU" : "no virtual PMU is offered");
	/*
	 * Without a PMU check_pmu gives the remedy; a PMU that counts incorrectly gets its reason
	 * here.
	 */
	if (h->pmus && h->live && doctor_barrier(h) == BARRIER_NONE && !doctor_hardware_works(h)) {
		f->mark = MARK_WARN;
		SAY(f->why,
		    "Virtual PMUs have fewer events, may freeze, and may or may not count "
		    "exits to the hypervisor.");
	}
	return true;
}

static bool check_seccomp(const struct host *h, struct finding *f)
{
	if (h->seccomp == HOST_UNKNOWN)
		return false;
	if (h->seccomp == 0) {
		SAY(f->what, "no seccomp filter");
		return true;
	}
	if (doctor_barrier(h) == BARRIER_FILTER)
		f->mark = MARK_WARN; /* check_permission fails and gives the remedy */
	SAY(f->what, "a seccomp filter is in force%s",
	    !h->live ? " (not tested whether it allows perf_event_open)"
		    : doctor_barrier(h) == BARRIER_FILTER ? " and refuses perf_event_open"
							  : " and allows perf_event_open");
	if (f->mark == MARK_WARN)
		SAY(f->why,
		    "A filter cannot be removed by the process: it was set before the process started.");
	return true;
}

static bool check_container(const struct host *h, struct finding *f)
{
	if (!h->container[0])
		return false;
	SAY(f->what, "inside a container, or in its image: %s (%s)%s", h->container,
	    h->container_mark,
	    h->knobs_read_only ? "; kernel settings can be changed only on its host" : "");
	return true;
}

static bool check_capabilities(const struct host *h, struct finding *f)
{
	if (!h->capabilities_known || h->uid == HOST_UNKNOWN)
		return false;
	SAY(f->what, "uid %ld, effective capabilities: CAP_PERFMON %s, CAP_SYS_ADMIN %s%s", h->uid,
	    has(h, CAP_PERFMON_BIT) ? "yes" : "no", has(h, CAP_SYS_ADMIN_BIT) ? "yes" : "no",
	    h->user_namespace ? "; a user namespace, so they do not count for perf events" : "");
	return true;
}

#define SIBLING_BUSY 0.2

static bool check_smt(const struct host *h, struct finding *f)
{
	if (h->smt_active == HOST_UNKNOWN)
		return false;
	SAY(f->what, "%s",
	    h->smt_active
		    ? "SMT is on: cycles and cache counts also depend on what the sibling thread runs"
		    : "SMT is off: no sibling thread shares a core");
	if (!h->smt_active || h->sibling_busy < SIBLING_BUSY)
		return true;
	f->mark = MARK_WARN;
	SAY(f->what,
	    "SMT is on, and the other thread of this core was busy for %.0f %% of the time",
	    100 * h->sibling_busy);
	SAY(f->why,
	    "Two threads of a core share its caches and execution units: cycles and cache misses also depend on the other thread.");
	doctor_fix(f, FIX_HERE, false, "use a CPU with an idle sibling: mpstat -P ALL 1 shows them",
		   "taskset -c CPU command");
	doctor_fix(f, place_of_knobs(h), true, "until the next boot: no siblings at all",
		   "sh -c 'echo off > /sys/devices/system/cpu/smt/control'");
	return true;
}

/* The kernel's defaults: 512 KiB plus one page per user and CPU; 100000 samples per second. */
enum { MLOCK_KB = 516, SAMPLE_RATE = 100000 };

static bool check_buffers(const struct host *h, struct finding *f)
{
	if (h->mlock_kb == HOST_UNKNOWN)
		return false;
	SAY(f->what, "ring buffers may lock %ld KiB per CPU (kernel.perf_event_mlock_kb)",
	    h->mlock_kb);
	if (h->mlock_kb >= MLOCK_KB || privileged(h))
		return true;
	f->mark = MARK_WARN;
	SAY(f->why,
	    "Sampling as this user fails with EPERM or loses samples: the limit is too small for its buffers.");
	doctor_fix_knob(h, f, "kernel.perf_event_mlock_kb", MLOCK_KB);
	return true;
}

static bool check_sample_rate(const struct host *h, struct finding *f)
{
	if (h->sample_rate == HOST_UNKNOWN)
		return false;
	SAY(f->what, "up to %ld samples a second (kernel.perf_event_max_sample_rate)",
	    h->sample_rate);
	/* On emulated and slow machines the kernel routinely lowers it a little. */
	if (h->sample_rate >= SAMPLE_RATE / 4)
		return true;
	f->mark = MARK_WARN;
	SAY(f->why,
	    "The kernel lowers this limit when its interrupts take too long; faster sampling is "
	    "refused or throttled.");
	/* At 0 and 100 the kernel rejects writes to the rate with EINVAL. */
	if (h->cpu_time_percent == 0 || h->cpu_time_percent == 100)
		doctor_fix(f, place_of_knobs(h), true, "until the kernel lowers it again",
			   "sysctl kernel.perf_cpu_time_max_percent=25 "
			   "kernel.perf_event_max_sample_rate=%d",
			   SAMPLE_RATE);
	else
		doctor_fix_knob(h, f, "kernel.perf_event_max_sample_rate", SAMPLE_RATE);
	return true;
}

static bool check_symbols(const struct host *h, struct finding *f)
{
	if (!h->symbols_known)
		return false;
	if (!h->symbols_hidden) {
		SAY(f->what, "kernel symbols have addresses for this user (%s)",
		    doctor_knob("kernel.kptr_restrict", h->kptr_restrict).s);
		return true;
	}
	/* Without kernel samples there are no kernel symbols to resolve. */
	if (!allowed_by_knobs(h, LEVEL_KERNEL)) {
		SAY(f->what,
		    "kernel symbols are hidden from this user, who cannot sample the "
		    "kernel anyway");
		return true;
	}
	f->mark = MARK_WARN;
	SAY(f->what, "kernel symbols are hidden from this user (%s)",
	    doctor_knob("kernel.kptr_restrict", h->kptr_restrict).s);
	SAY(f->why, "Samples in the kernel show addresses instead of function names.");
	doctor_fix_knob(h, f, "kernel.kptr_restrict", 0);
	return true;
}

/*
 * Tracepoints fire in the kernel, so a user who may not count there loses nothing if names are
 * hidden.
 */
static bool check_tracepoints(const struct host *h, struct finding *f)
{
	if (doctor_barrier(h) != BARRIER_NONE || !allowed_by_knobs(h, LEVEL_KERNEL))
		return false;
	if (h->tracepoints_readable) {
		SAY(f->what, "tracepoints (sched:sched_switch, ...) can be looked up");
		return true;
	}
	f->mark = MARK_WARN;
	SAY(f->what, "tracepoints (sched:sched_switch, ...) cannot be looked up: tracefs is %s",
	    h->tracefs_mounted ? "closed to this user" : "not mounted");
	SAY(f->why, "Their ids are available only in /sys/kernel/tracing/events.");
	/* Its files belong to its group (mode 440), whatever the mode of the directory. */
	doctor_fix(f, FIX_HERE, true, "this user's group, until the next boot",
		   h->tracefs_mounted
			   ? "mount -o remount,mode=750,gid=%ld /sys/kernel/tracing"
			   : "mount -t tracefs -o mode=750,gid=%ld tracefs /sys/kernel/tracing",
		   h->gid);
	return true;
}

static bool check_kernel(const struct host *h, struct finding *f)
{
	unsigned major, minor;

	if (sscanf(h->kernel, "%u.%u", &major, &minor) != 2)
		return false;
	SAY(f->what, "Linux %s", h->kernel);
	if (major > 5 || (major == 5 && minor >= 10))
		return true;
	f->mark = MARK_WARN;
	SAY(f->why,
	    "tare is tested from Linux 5.10 on; CAP_PERFMON came with 5.8, hybrid cores "
	    "with 5.13.");
	return true;
}

const struct check doctor_environment_checks[] = {
	{ "watchdog", check_watchdog },
	{ "hypervisor", check_hypervisor },
	{ "container", check_container },
	{ "seccomp", check_seccomp },
	{ "capabilities", check_capabilities },
	{ "smt", check_smt },
	{ "buffers", check_buffers },
	{ "sample-rate", check_sample_rate },
	{ "kernel-symbols", check_symbols },
	{ "tracepoints", check_tracepoints },
	{ "kernel", check_kernel },
	{ NULL, NULL },
};
