/* SPDX-License-Identifier: MIT */
/* Checks of what this user can count. One row each, most important first. */
#include <stdio.h>
#include <string.h>
#include "doctor/doctor_check.h"

/* Only some distributions' kernels know levels above 2; this one treats such a level as 2. */
static bool taken_for_2(const struct host *h)
{
	return h->live && h->paranoid > LEVEL_OWN_USER && works(&h->tries[TRY_TASK_CLOCK]) &&
		!has(h, CAP_SYS_ADMIN_BIT);
}

/* The knob first, since it needs nothing installed; then more specific remedies. */
static void fix_permission(const struct host *h, struct finding *f, long level)
{
	enum place place = place_of_knobs(h);

	doctor_fix(f, place, true, "until the next boot", "sysctl kernel.perf_event_paranoid=%ld",
		   level);
	doctor_fix(f, place, true, "from the next boot on",
		   "sh -c 'echo kernel.perf_event_paranoid=%ld > /etc/sysctl.d/60-perf.conf'",
		   level);
	if ((h->paranoid <= LEVEL_OWN_USER || taken_for_2(h)) && !h->user_namespace &&
	    h->program[0] && !strpbrk(h->program, "' \t\\\"$`"))
		doctor_fix(f, FIX_HERE, true, "for this tare alone, at levels up to 2",
			   "setcap cap_perfmon+ep %s", h->program);
}

/* Commands that work at once, if the kernel or the machine offers nothing. */
static void fix_by_exact_engine(const struct host *h, struct finding *f)
{
	if (h->exact_works)
		doctor_fix(f, FIX_HERE, false,
			   "exact counts of user-mode instructions, without a PMU",
			   "tare stat --engine exact -e instructions:u -- COMMAND");
}

static bool check_permission(const struct host *h, struct finding *f)
{
	const char *code = doctor_errno_name(h->tries[TRY_TASK_CLOCK].code);

	f->mark = MARK_FAIL;
	SAY(f->why, "Without it no kernel event can be counted, not even time and page faults.");
	switch (doctor_barrier(h)) {
	case BARRIER_NONE:
		f->mark = MARK_OK;
		f->why[0] = '\0';
		SAY(f->what, "this user may count own programs in user mode (%s%s)",
		    doctor_knob("kernel.perf_event_paranoid", h->paranoid).s,
		    privileged(h)            ? ", but CAP_PERFMON or CAP_SYS_ADMIN overrides it"
			    : taken_for_2(h) ? ", which this kernel treats as 2"
					     : "");
		break;
	case BARRIER_KNOB:
		/*
		 * Levels above 2 are a distribution patch; a source tree does not show which
		 * distribution built the kernel.
		 */
		SAY(f->what, "%s: unprivileged users may not count at all%s",
		    doctor_knob("kernel.perf_event_paranoid", h->paranoid).s,
		    h->live ? ""
			    : " on kernels of Debian, Ubuntu and Android (others treat it as 2)");
		fix_permission(h, f, LEVEL_OWN_USER);
		break;
	case BARRIER_FILTER:
		SAY(f->what, "perf_event_open fails with %s: %s%s%s, not the kernel, refuses it",
		    code, h->seccomp == 2 ? "a seccomp filter" : "a sandbox",
		    h->container[0] ? " of " : "", h->container);
		doctor_fix_rows(f, container_of(h)->fix, ARRAY_SIZE(container_of(h)->fix));
		break;
	case BARRIER_ABSENT:
		SAY(f->what,
		    "this kernel was built without perf events (no kernel.perf_event_paranoid%s%s)",
		    h->live ? ", perf_event_open fails with " : "", h->live ? code : "");
		doctor_fix(f, FIX_HOST, true, "in the kernel's configuration",
			   "CONFIG_PERF_EVENTS=y");
		break;
	case BARRIER_SECURITY:
		SAY(f->what,
		    "perf_event_open fails with %s (%s): a security module (SELinux, AppArmor) "
		    "or sandbox refuses it",
		    code, doctor_knob("kernel.perf_event_paranoid", h->paranoid).s);
		doctor_fix(f, FIX_HERE, true, "shows who refused it",
			   "sh -c 'dmesg | grep -iE \"denied|audit\" | tail'");
		break;
	case BARRIER_OTHER:
		SAY(f->what, "perf_event_open fails with %s: %s", code,
		    strerror(h->tries[TRY_TASK_CLOCK].code));
		break;
	}
	if (f->mark == MARK_FAIL)
		fix_by_exact_engine(h, f);
	return true;
}

/* Whether the kernel's own counts of this program are right: task-clock and page-faults. */
static bool check_software(const struct host *h, struct finding *f)
{
	const struct attempt *clock = &h->tries[TRY_TASK_CLOCK], *faults = &h->tries[TRY_FAULTS];

	if (!h->live || doctor_barrier(h) != BARRIER_NONE)
		return false;
	if (works(clock) && works(faults)) {
		SAY(f->what,
		    "software events count: task-clock agrees with the clock, %llu of %llu page "
		    "faults seen",
		    (unsigned long long)faults->count, (unsigned long long)faults->low);
		return true;
	}
	f->mark = MARK_FAIL;
	SAY(f->what,
	    "software events open but count wrongly: task-clock %llu ns for %llu to %llu, "
	    "page-faults %llu for %llu",
	    (unsigned long long)clock->count, (unsigned long long)clock->low,
	    (unsigned long long)clock->high, (unsigned long long)faults->count,
	    (unsigned long long)faults->low);
	SAY(f->why,
	    "A sandbox that emulates Linux may do this; no number measured here can be trusted.");
	return true;
}

/* "this virtual machine (KVM) has none": why there is no core PMU. */
static void absence_words(const struct host *h, char *out, size_t room)
{
	const struct hypervisor *vm = hypervisor_of(h);

	if (vm)
		snprintf(out, room, "this virtual machine (%s) has none", vm->name);
	else
		snprintf(out, room, "the kernel found none that it supports");
}

static void untrusted(const struct host *h, struct finding *f, const struct attempt *bad,
		      const char *event)
{
	char words[160];

	doctor_outcome_words(bad, event, words, sizeof(words));
	f->mark = MARK_FAIL;
	SAY(f->what, "the PMU cannot be used: %s", words);
	if (refused(bad)) {
		SAY(f->why, "cycles, instructions, branches and cache events all come from it.");
		return;
	}
	SAY(f->why, "Counts may be 0, frozen or impossible.%s",
	    bad->outcome == OUTCOME_OFF
		    ? " All counters are in use: by another profiler or the watchdog."
		    : "");
	if (bad->outcome == OUTCOME_OFF && h->nmi_watchdog == 1)
		doctor_fix_knob(h, f, "kernel.nmi_watchdog", 0);
	else if (hypervisor_of(h))
		doctor_fix_rows(f, hypervisor_of(h)->fix, ARRAY_SIZE(hypervisor_of(h)->fix));
}

static bool check_pmu(const struct host *h, struct finding *f)
{
	const struct attempt *instructions = &h->tries[TRY_INSTRUCTIONS],
			     *cycles = &h->tries[TRY_CYCLES];
	const struct hypervisor *vm = hypervisor_of(h);
	char words[160];

	if (h->pmus == 0 &&
	    (!h->live || absent(instructions) || doctor_barrier(h) != BARRIER_NONE)) {
		absence_words(h, words, sizeof(words));
		f->mark = MARK_FAIL;
		SAY(f->what, "there is no core PMU: %s", words);
		SAY(f->why, "Cycles, instructions, branches and cache events all come from it. %s",
		    vm ? "Clouds provide one on bare-metal and on some large instance types." : "");
		fix_by_exact_engine(h, f);
		if (vm)
			doctor_fix_rows(f, vm->fix, ARRAY_SIZE(vm->fix));
		return true;
	}
	doctor_pmu_names(h, words, sizeof(words));
	if (!h->live || doctor_barrier(h) != BARRIER_NONE) {
		SAY(f->what, "there is a core PMU: %s (%s)", words,
		    h->live ? "out of reach for this user" : "not tested");
		return true;
	}
	if (instructions->outcome == OUTCOME_UNTRIED) {
		f->mark = MARK_WARN;
		SAY(f->what, "the PMU (%s) was not tested: this process may not run on its CPUs",
		    words);
		SAY(f->why, "It is unknown whether it counts.");
		return true;
	}
	if (!works(instructions)) {
		untrusted(h, f, instructions, "instructions:u");
		return true;
	}
	if (!works(cycles)) {
		untrusted(h, f, cycles, "cycles:u");
		f->mark = MARK_WARN;
		return true;
	}
	if (instructions->outcome == OUTCOME_SHARED || cycles->outcome == OUTCOME_SHARED) {
		bool is_cycles = instructions->outcome != OUTCOME_SHARED;

		doctor_outcome_words(is_cycles ? cycles : instructions,
				     is_cycles ? "cycles:u" : "instructions:u", words,
				     sizeof(words));
		f->mark = MARK_WARN;
		SAY(f->what, "hardware counters are contended: %s", words);
		SAY(f->why,
		    "Another user of the counters is active, so the kernel multiplexes and counts "
		    "become estimates.");
		return true;
	}
	SAY(f->what,
	    "hardware counts are correct on %s: instructions:u counted %llu of %llu, cycles:u ran at a "
	    "possible rate",
	    h->pmus ? words : "the core PMU", (unsigned long long)instructions->count,
	    (unsigned long long)(instructions->low + instructions->high) / 2);
	return true;
}

static bool check_counters(const struct host *h, struct finding *f)
{
	const struct core_pmu *p = &h->pmu[0];
	const struct cpu_description *c = &h->cpu;
	unsigned got = p->programmable + p->fixed, told = c->programmable + c->fixed;

	if (!doctor_hardware_works(h) || got == 0)
		return false;
	SAY(f->what, "%u counters at once: %u programmable, %u fixed", got, p->programmable,
	    p->fixed);
	/* Cycles, instructions and reference cycles: the fixed counters that generic events use. */
	if (!c->counters_known || got >= c->programmable + (c->fixed < 3 ? c->fixed : 3))
		return true;
	f->mark = MARK_WARN;
	SAY(f->what, "%u counters at once, though the CPU has %u (%u programmable, %u fixed)", got,
	    told, c->programmable, c->fixed);
	SAY(f->why,
	    "The watchdog, another profiler or the hypervisor uses the others: larger "
	    "groups do not fit.");
	return true;
}

static bool check_kernel_mode(const struct host *h, struct finding *f)
{
	const struct attempt *switches = &h->tries[TRY_SWITCHES], *kernel = &h->tries[TRY_KERNEL];
	bool may = h->live ? !refused(switches) : allowed_by_knobs(h, LEVEL_KERNEL);

	if (doctor_barrier(h) != BARRIER_NONE)
		return false;
	if (may && (works(kernel) || absent(kernel) || kernel->outcome == OUTCOME_UNTRIED)) {
		SAY(f->what, "this user may also count in the kernel%s",
		    works(kernel) ? "" : ": context switches, migrations");
		return true;
	}
	f->mark = MARK_WARN;
	if (may) {
		char words[160];

		doctor_outcome_words(kernel, "instructions:k", words, sizeof(words));
		SAY(f->what, "kernel-mode hardware counts cannot be used: %s", words);
		SAY(f->why, "Only user-mode counts (event:u) can be trusted here.");
		return true;
	}
	SAY(f->what, "this user may not count in the kernel (%s)",
	    doctor_knob("kernel.perf_event_paranoid", h->paranoid).s);
	SAY(f->why,
	    "Only :u counts are allowed. Context switches and migrations happen in the "
	    "kernel: perf events cannot "
	    "count them either, and with :u they would read 0.");
	fix_permission(h, f, LEVEL_KERNEL);
	return true;
}

static bool check_cpu_wide(const struct host *h, struct finding *f)
{
	const struct attempt *a = &h->tries[TRY_CPU_WIDE];

	if (doctor_barrier(h) != BARRIER_NONE)
		return false;
	if (h->live ? works(a) : allowed_by_knobs(h, LEVEL_CPU_WIDE)) {
		SAY(f->what, "this user may count whole CPUs (-a, -C, uncore PMUs)");
		return true;
	}
	f->mark = MARK_WARN;
	SAY(f->what, "this user may not count whole CPUs (%s)",
	    doctor_knob("kernel.perf_event_paranoid", h->paranoid).s);
	SAY(f->why,
	    "-a, -C, cgroups and uncore PMUs (memory, L3, power) count the activity of all users.");
	doctor_fix_knob(h, f, "kernel.perf_event_paranoid", LEVEL_CPU_WIDE);
	return true;
}

static bool check_user_reads(const struct host *h, struct finding *f)
{
	const struct attempt *a = &h->tries[TRY_USER_READ];
	const struct core_pmu *p = &h->pmu[0];
	bool x86 = p->rdpmc != HOST_UNKNOWN;

	if (h->pmus == 0 || (h->live && !doctor_hardware_works(h)))
		return false;
	SAY(f->why,
	    "Reading a counter then takes a system call, about a microsecond instead of some "
	    "tens of cycles.");
	f->mark = MARK_WARN;
	if (x86 && p->rdpmc == 0) {
		SAY(f->what, "user-space counter reads are off: %s/rdpmc is 0", p->name);
		doctor_fix(f, place_of_knobs(h), true, "until the next boot",
			   "sh -c 'echo 1 > /sys/bus/event_source/devices/%s/rdpmc'", p->name);
	} else if (!x86 && h->user_access == HOST_UNKNOWN) {
		SAY(f->what,
		    "this kernel has no user-space counter reads (kernel.perf_user_access "
		    "came with Linux 5.17)");
	} else if (!x86 && h->user_access == 0) {
		SAY(f->what, "user-space counter reads are off: kernel.perf_user_access is 0");
		doctor_fix_knob(h, f, "kernel.perf_user_access", 1);
	} else if (a->outcome == OUTCOME_UNTRIED || a->outcome == OUTCOME_COUNTED) {
		f->mark = MARK_OK;
		f->why[0] = '\0';
		SAY(f->what, "counters can be read without a system call (%s%s is %ld)",
		    x86 ? p->name : "kernel.perf_user_access", x86 ? "/rdpmc" : "",
		    x86 ? p->rdpmc : h->user_access);
	} else {
		char words[160];

		doctor_outcome_words(a, "a user-space read", words, sizeof(words));
		SAY(f->what, "user-space counter reads are allowed but do not work: %s", words);
	}
	return true;
}

static bool check_hybrid(const struct host *h, struct finding *f)
{
	char words[160];
	unsigned dead = 0;

	if (h->pmus < 2)
		return false;
	for (unsigned i = 0; i < h->pmus; i++)
		dead += h->live && !works(&h->pmu[i].instructions);
	doctor_pmu_names(h, words, sizeof(words));
	SAY(f->what, "%u kinds of core: %s", h->pmus, words);
	if (dead && doctor_barrier(h) == BARRIER_NONE) {
		f->mark = MARK_WARN;
		SAY(f->what, "%u kinds of core (%s), and instructions count on only %u", h->pmus,
		    words, h->pmus - dead);
		SAY(f->why,
		    "Programs on the other CPUs are not counted. Run the program on CPUs that "
		    "count: taskset -c CPUS command.");
	}
	return true;
}

/* Not checked for a recorded machine; a build without it is not reported while there is a PMU. */
static bool check_exact(const struct host *h, struct finding *f)
{
	if (!h->live || (!h->exact_built && doctor_hardware_works(h)))
		return false;
	if (h->exact_works) {
		SAY(f->what,
		    "the exact engine counts the user-mode instructions of programs it runs, "
		    "without a PMU (--engine exact)");
		return true;
	}
	f->mark = MARK_WARN;
	SAY(f->what,
	    h->exact_built ? "the exact engine does not work here: %s"
			   : "this build of tare has no exact engine%s",
	    h->exact_why);
	SAY(f->why, "It counts instructions without a PMU.");
	return true;
}

const struct check doctor_counting[] = {
	{ "permission", check_permission }, { "pmu", check_pmu },
	{ "software", check_software },     { "exact-engine", check_exact },
	{ "counters", check_counters },     { "kernel-mode", check_kernel_mode },
	{ "cpu-wide", check_cpu_wide },     { "user-reads", check_user_reads },
	{ "hybrid", check_hybrid },         { NULL, NULL },
};
