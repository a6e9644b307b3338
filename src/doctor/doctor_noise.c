/* SPDX-License-Identifier: MIT */
/*
 * Checks of what makes counts and times vary from run to run: ticks, frequency, stolen time,
 * microcode, known faults.
 */
#include <stdio.h>
#include <string.h>
#include "doctor/doctor_check.h"
#include "host/faults.h"

#define STEAL_MOST 0.01

static bool check_ticks(const struct host *h, struct finding *f)
{
	if (h->hz == HOST_UNKNOWN && !h->nohz_full[0])
		return false;
	if (h->hz == HOST_UNKNOWN)
		SAY(f->what, "CPUs %.60s take no clock tick while one task runs there (nohz_full)",
		    h->nohz_full);
	else if (h->nohz_full[0])
		SAY(f->what,
		    "%ld clock ticks a second (CONFIG_HZ); none on CPUs %.60s while one task runs there (nohz_full)",
		    h->hz, h->nohz_full);
	else
		SAY(f->what,
		    "%ld clock ticks a second (CONFIG_HZ) interrupt programs on all CPUs: for each tick, x86 counts one instruction too many",
		    h->hz);
	return true;
}

static bool check_governor(const struct host *h, struct finding *f)
{
	if (!h->governor[0])
		return false;
	SAY(f->what, "frequency governor: %s%s", h->governor,
	    h->governors_differ ? ", and others on other CPUs" : "");
	if (!strcmp(h->governor, "performance") && !h->governors_differ)
		return true;
	f->mark = MARK_WARN;
	SAY(f->why,
	    "The frequency follows the load: the times of short runs vary, and cycles of code that waits for memory. Instructions do not.");
	doctor_fix(
		f, place_of_knobs(h), true, "until the next boot",
		"sh -c 'for c in /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor; do echo performance > $c; done'");
	return true;
}

static bool check_turbo(const struct host *h, struct finding *f)
{
	if (h->turbo == HOST_UNKNOWN)
		return false;
	SAY(f->what, "turbo frequencies are %s", h->turbo ? "on" : "off");
	if (!h->turbo)
		return true;
	f->mark = MARK_WARN;
	SAY(f->why,
	    "The frequency depends on temperature and on the load of other cores: times vary, cycles less, instructions not at all.");
	doctor_fix(
		f, place_of_knobs(h), true, "until the next boot",
		"sh -c 'cd /sys/devices/system/cpu; [ -e intel_pstate/no_turbo ] && echo 1 > intel_pstate/no_turbo || echo 0 > cpufreq/boost'");
	return true;
}

static bool check_steal(const struct host *h, struct finding *f)
{
	if (h->steal_share < 0 || (!h->cpu.hypervisor && h->steal_share == 0))
		return false;
	SAY(f->what,
	    "since boot, the hypervisor gave %.2g %% of this machine's time to others (steal)",
	    100 * h->steal_share);
	if (h->steal_share < STEAL_MOST)
		return true;
	f->mark = MARK_WARN;
	SAY(f->why,
	    "Wall times include it, caches are cold after it, and a virtual PMU may lose counts. tare stat --explain shows its effect.");
	doctor_fix(f, FIX_HOST, true, "a host CPU for each guest CPU",
		   "virsh vcpupin GUEST 0 HOST_CPU");
	return true;
}

static bool check_microcode(const struct host *h, struct finding *f)
{
	if (!h->microcode[0])
		return false;
	SAY(f->what, "microcode %s (%s): verdicts of tare verify apply only to it", h->microcode,
	    h->cpu_id[0] ? h->cpu_id : "an unnamed CPU");
	return true;
}

const struct check doctor_noise_checks[] = {
	{ "ticks", check_ticks }, { "governor", check_governor },   { "turbo", check_turbo },
	{ "steal", check_steal }, { "microcode", check_microcode }, { NULL, NULL },
};

/* ---- known faults: a finding for each that applies, and one for all that do not ---- */

/* Each distribution has its own command for the boot loader. */
static void fix_boot_option(const struct host *h, struct finding *f, const char *option)
{
	doctor_fix(f, place_of_knobs(h), true, "Debian, Ubuntu: from the next boot on",
		   "sed -i 's/^GRUB_CMDLINE_LINUX=\"/&%s /' /etc/default/grub && update-grub",
		   option);
	doctor_fix(f, place_of_knobs(h), true, "Fedora, RHEL: from the next boot on",
		   "grubby --update-kernel=ALL --args=%s", option);
}

static void tell(const struct host *h, const struct fault_finding *x, struct finding *f)
{
	static const char boot[] = "boot option: ";
	const struct fault *fault = &x->fault;

	*f = (struct finding){ .id = "fault", .mark = MARK_WARN };
	SAY(f->what, "%s%s%.60s%s%s", fault->what, x->detail[0] ? " (" : "", x->detail,
	    x->detail[0] ? ")" : "",
	    !strcmp(fault->known, "guessed") ? "; likely, not confirmed for this CPU" : "");
	SAY(f->why, "%s Source: %.100s", fault->why, fault->source);
	if (!strncmp(fault->type, boot, strlen(boot))) {
		fix_boot_option(h, f, fault->type + strlen(boot));
		return;
	}
	doctor_fix(f,
		   !strncmp(fault->type, "modprobe -r kvm", 15) || !strcmp(fault->type, "xl dmesg")
			   ? FIX_HOST
			   : place_of_knobs(h),
		   strncmp(fault->type, "tare", 4) && strncmp(fault->type, "taskset", 7) &&
			   strncmp(fault->type, "uname", 5),
		   "", "%s", fault->type);
}

unsigned doctor_faults(const struct host *h, struct finding *out, unsigned room)
{
	struct fault_finding found[FAULTS_MOST];
	size_t n = faults_judge(h, found, FAULTS_MOST);
	unsigned told = 0, absent = 0, untried = 0;

	for (size_t i = 0; i < n; i++) {
		absent += found[i].state == FAULT_ABSENT;
		untried += found[i].state == FAULT_UNTRIED;
		/* The presence of two core types is a finding of its own. */
		if (found[i].state == FAULT_PRESENT && strcmp(found[i].fault.id, "hybrid") &&
		    told < room)
			tell(h, &found[i], &out[told++]);
	}
	if (!told && n && room) {
		out[0] = (struct finding){ .id = "fault", .mark = MARK_OK };
		SAY(out[0].what,
		    "no fault found, of %zu known for such machines (%u tested, %u not tested: tare verify faults)",
		    n, absent, untried);
		told = 1;
	}
	return told;
}
