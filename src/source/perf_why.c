/* SPDX-License-Identifier: MIT */
/*
 * Why the kernel refused a counter. Takes the errno and the request, gives one line that names the
 * event and the target, and a hint with a command. Source: perf_event_open(2), "ERRORS"; kernel
 * documentation, "Perf events and tool security".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/file.h"
#include "source/perf_why.h"

#define PARANOID "kernel.perf_event_paranoid"

int perf_paranoid_for(const struct perf_event_attr *attr, const struct target *on)
{
	/*
	 * The data of a tracepoint, not its count. Source: linux kernel/trace/trace_event_perf.c,
	 * perf_trace_event_perm().
	 */
	if (attr->type == PERF_TYPE_TRACEPOINT && attr->sample_type & PERF_SAMPLE_RAW)
		return -1;
	if (on->pid == -1 || on->cgroup_fd >= 0)
		return 0;
	return attr->exclude_kernel ? 2 : 1;
}

/* "thread 12 on cpu 3", "this thread", "cpu 3", "the cgroup on cpu 3". */
static void target_words(char *out, size_t room, const struct target *on)
{
	int n;

	if (on->cgroup_fd >= 0)
		n = snprintf(out, room, "the cgroup");
	else if (on->pid == -1)
		n = snprintf(out, room, "every task");
	else if (on->pid == 0)
		n = snprintf(out, room, "this thread");
	else
		n = snprintf(out, room, "thread %d", (int)on->pid);
	if (on->cpu >= 0 && n > 0 && (size_t)n < room)
		snprintf(out + n, room - (size_t)n, " on cpu %d", on->cpu);
}

static void hint_permission(struct tare_error *err, const struct perf_ask *ask)
{
	int need = perf_paranoid_for(ask->attr, ask->on);
	bool own = ask->on->pid == 0 || ask->on->pid == getpid();
	char now[32];

	if (file_line(NULL, "/proc/sys/kernel/perf_event_paranoid", now, sizeof(now), NULL) < 0) {
		tare_hint(
			err,
			"CAP_PERFMON would allow this; `tare doctor` tells what this user may count");
		return;
	}

	long level = strtol(now, NULL, 10);

	if (level > need)
		tare_hint(err,
			  PARANOID " is %ld; %d (`sysctl " PARANOID "=%d` as root) or %s "
				   "would allow this%s",
			  level, need, need,
			  level > 2 ? "CAP_SYS_ADMIN (CAP_PERFMON, where the kernel takes "
				      "levels above 2 for 2)"
				    : "CAP_PERFMON",
			  need == 1 && encoding_modes(ask->enc) != MODES_IN_KERNEL
				  ? "; so would counting user mode only (:u)"
				  : "");
	else if (ask->on->pid > 0 && !own)
		tare_hint(
			err,
			"thread %d belongs to another user or may not be traced; CAP_PERFMON or the "
			"same user (and kernel.yama.ptrace_scope 0) would allow this",
			(int)ask->on->pid);
	else
		tare_hint(err,
			  PARANOID
			  " is %ld, which would allow this: a container's seccomp filter or a "
			  "security module refused it; `tare doctor` tells which",
			  level);
}

/* Would it be counted with the kernel included? For the hint. */
static void hint_with_kernel(struct tare_error *err, const struct perf_ask *ask)
{
	struct perf_event_attr with = *ask->attr;
	const struct target *on = ask->on;
	int fd;

	with.exclude_kernel = with.exclude_hv = 0;
	fd = (int)syscall(SYS_perf_event_open, &with, on->cgroup_fd >= 0 ? on->cgroup_fd : on->pid,
			  on->cpu, -1,
			  PERF_FLAG_FD_CLOEXEC | (on->cgroup_fd >= 0 ? PERF_FLAG_PID_CGROUP : 0));
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		hint_permission(err, &(struct perf_ask){ ask->enc, &with, on, ask->index, ask->n });
	else
		tare_hint(err, "leave out the :u");
	if (fd >= 0)
		close(fd);
}

enum { USER = 1, KERNEL = 2, HYPERVISOR = 4, GUEST = 8, HOST = 16, IDLE = 32 };

#define OF(modes) (1u << MODES_##modes)

/* The first matching row refuses; `why` follows the event's name. */
static const struct {
	/* modes that must all be excluded; modes of which at least one must be, if any are set */
	unsigned modes, all, any;
	/* only for a count, not for samples; only for a CPU, not for a task */
	bool count, cpu;
	const char *why, *hint; /* hint NULL: see hint_with_kernel() */
} wrong[] = {
	{ OF(OF_PMU), USER | KERNEL | HYPERVISOR, 0, false, false,
	  "is counted neither in user mode nor in the kernel: it would stay 0",
	  "leave out the modifier" },
	{ OF(TOLD) | OF(IN_KERNEL), USER | KERNEL, 0, false, false,
	  "happens in user mode or in the kernel, and both are excluded: it would stay 0",
	  "leave out the modifier" },
	{ OF(NO_COUNT), 0, 0, true, false,
	  "has no count: a BPF program writes records into it, and its number stays 0",
	  "tare record takes the records" },
	{ OF(CLOCK), 0, USER | KERNEL | GUEST | HOST | IDLE, true, false,
	  "would count both user mode and the kernel: the kernel's clocks take no modifier",
	  "leave out the modifier; user_time and system_time (tare stat) tell the two apart, and samples by a clock (tare record) are of one mode" },
	{ OF(CLOCK), USER | KERNEL, 0, false, false,
	  "ticks in user mode and in the kernel, and both are excluded: there would be no samples",
	  "leave out the modifier" },
	{ ~OF(OF_PMU), HOST, 0, false, false,
	  "would include the host's, too: the kernel does not distinguish guests there",
	  "leave out the G" },
	{ OF(IN_KERNEL), KERNEL, 0, false, false,
	  "happens in the kernel, and counting in the kernel is excluded: it would stay 0", NULL },
	{ OF(IN_USER), USER, 0, false, false,
	  "occurs in user mode, and the kernel counts it also where user mode is excluded",
	  "leave out the modifier, or let it be :u" },
	{ ~(OF(OF_PMU) | OF(CLOCK)), IDLE, 0, false, true,
	  "would include the idle task's, too: the kernel does not exclude it there",
	  "leave out the I" },
};

int perf_modes_fail(const struct perf_ask *ask, struct tare_error *err)
{
	/* as typed: a clock is opened with fewer restrictions */
	const struct perf_event_attr *a = &ask->enc->attr;
	const unsigned out = (a->exclude_user ? USER : 0) | (a->exclude_kernel ? KERNEL : 0) |
		(a->exclude_hv ? HYPERVISOR : 0) | (a->exclude_guest ? GUEST : 0) |
		(a->exclude_host ? HOST : 0) | (a->exclude_idle ? IDLE : 0);
	const unsigned modes = 1u << encoding_modes(ask->enc);
	const bool counts = !ask->attr->sample_period || ask->attr->sample_type & PERF_SAMPLE_READ;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		if (!(modes & wrong[i].modes) || (out & wrong[i].all) != wrong[i].all ||
		    (wrong[i].any && !(out & wrong[i].any)) || (wrong[i].count && !counts) ||
		    (wrong[i].cpu && ask->on->pid != -1))
			continue;
		tare_fail(err, EINVAL, "%s %s", ask->enc->name, wrong[i].why);
		if (wrong[i].hint)
			tare_hint(err, "%s", wrong[i].hint);
		else
			hint_with_kernel(err, ask);
		return -EINVAL;
	}
	return 0;
}

static int refuse_descriptors(struct tare_error *err, int code, const struct perf_ask *ask)
{
	struct rlimit lim = { 0 };
	int ret;

	if (code == ENFILE) {
		ret = tare_fail(err, code, "cannot open %s: the system has no file descriptor left",
				ask->enc->name);
		tare_hint(err, "raise fs.file-max, or close something");
		return ret;
	}
	getrlimit(RLIMIT_NOFILE, &lim);
	ret = tare_fail(err, code, "cannot open %s: all %llu file descriptors are in use",
			ask->enc->name, (unsigned long long)lim.rlim_cur);
	tare_hint(err,
		  "every event on every CPU or thread takes one: raise `ulimit -n` (now %llu, at "
		  "most %llu)",
		  (unsigned long long)lim.rlim_cur, (unsigned long long)lim.rlim_max);
	return ret;
}

static bool is_core_event(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
		attr->type == PERF_TYPE_RAW;
}

static int refuse_argument(struct tare_error *err, const struct perf_ask *ask, const char *who)
{
	const struct perf_event_attr *attr = ask->attr;
	const struct target *on = ask->on;
	const char *name = ask->enc->name;
	int ret;

	if (on->pid == -1 && on->cpu < 0)
		return tare_fail(err, EINVAL, "cannot open %s for every task: name a CPU", name);
	if (ask->enc->place == PLACE_UNCORE && on->pid != -1) {
		ret = tare_fail(err, EINVAL,
				"%s is counted outside the cores (PMU %s) and cannot follow %s",
				name, ask->enc->pmu, who);
		tare_hint(err, "count it for every task on its CPUs: -a");
		return ret;
	}
	if (ask->index > 0) {
		ret = tare_fail(
			err, EINVAL,
			"%s does not fit into the group: the PMU cannot count its %zu events at "
			"once, or they are on different PMUs",
			name, ask->n);
		tare_hint(err,
			  "take an event out of the group, or let it be broken up ({...}:W); "
			  "`tare doctor` "
			  "tells how many counters are free");
		return ret;
	}
	if (attr->precise_ip) {
		ret = tare_fail(err, EINVAL,
				"cannot open %s for %s: the PMU cannot count it precisely (:%.*s)",
				name, who, (int)attr->precise_ip, "ppp");
		tare_hint(err, "leave the p modifier out");
		return ret;
	}
	ret = tare_fail(err, EINVAL,
			"cannot open %s for %s: the kernel refuses this encoding or its modifiers",
			name, who);
	tare_hint(
		err,
		"`tare events explain` shows the encoding; `tare doctor` shows what this PMU can do");
	return ret;
}

int perf_why(struct tare_error *err, int code, const struct perf_ask *ask)
{
	const char *name = ask->enc->name;
	char who[64];
	int ret;

	target_words(who, sizeof(who), ask->on);
	switch (code) {
	case EACCES:
	case EPERM:
		ret = tare_fail(err, code, "cannot open %s for %s: permission denied", name, who);
		hint_permission(err, ask);
		return ret;
	case EMFILE:
	case ENFILE:
		return refuse_descriptors(err, code, ask);
	case ESRCH:
		ret = tare_fail(err, code, "cannot open %s: there is no thread %d", name,
				(int)ask->on->pid);
		tare_hint(err, "it has ended, or the number is of another PID namespace");
		return ret;
	case ENOENT:
		if (is_core_event(ask->attr))
			ret = tare_fail(err, code,
					"cannot open %s: no PMU of this machine counts it", name);
		else
			ret = tare_fail(err, code,
					"cannot open %s: the kernel has no such event%s%s", name,
					ask->enc->pmu[0] ? " on PMU " : "", ask->enc->pmu);
		tare_hint(
			err,
			"`tare doctor` tells which PMUs there are (a virtual machine often has none)");
		return ret;
	case EOPNOTSUPP:
		ret = tare_fail(
			err, code, "cannot open %s for %s: the PMU does not support the request%s",
			name, who, ask->on->user_reads ? " (including reads from user space)" : "");
		tare_hint(err, "`tare doctor` shows what this PMU can do");
		return ret;
	case ENODEV:
		if (ask->on->cpu >= 0)
			ret = tare_fail(
				err, code,
				"cannot open %s: cpu %d is not online, or PMU %s does not count there",
				name, ask->on->cpu,
				ask->enc->pmu[0] ? ask->enc->pmu : "of the cores");
		else
			ret = tare_fail(err, code, "cannot open %s for %s: its PMU is not there",
					name, who);
		tare_hint(err, "`tare doctor` tells which PMUs and CPUs there are");
		return ret;
	case EBUSY:
		ret = tare_fail(
			err, code,
			"cannot open %s for %s: another program uses its counters exclusively",
			name, who);
		tare_hint(err, "`tare doctor` tells what holds a counter");
		return ret;
	case ENOSPC:
		ret = tare_fail(err, code, "cannot open %s for %s: no register is left for it",
				name, who);
		tare_hint(err, "a CPU has few breakpoint registers (4 on x86): use fewer at once");
		return ret;
	case ENOSYS:
		ret = tare_fail(err, code, "cannot open %s: there is no perf_event_open here",
				name);
		tare_hint(err,
			  "the kernel was built without it, or a container's seccomp filter "
			  "hides it; `tare "
			  "doctor` tells which");
		return ret;
	case E2BIG:
		ret = tare_fail(err, code,
				"cannot open %s: this kernel is too old for what it asks", name);
		tare_hint(err, "tare needs Linux 5.10 or later");
		return ret;
	case EINVAL:
		return refuse_argument(err, ask, who);
	case ENOMEM:
		return tare_fail(err, code, "cannot open %s for %s: the kernel is out of memory",
				 name, who);
	default:
		return tare_fail(err, code, "cannot open %s for %s: %s", name, who, strerror(code));
	}
}
