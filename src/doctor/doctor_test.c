/* SPDX-License-Identifier: MIT */
/*
 * Diagnoses of machines written as literals: each row breaks one thing and names the expected
 * finding.
 */
#include <errno.h>
#include "doctor/doctor_rows.h"
#include "tap.h"

#define PERFMON (UINT64_C(1) << 38)
#define ADMIN   (UINT64_C(1) << 21)

static const struct attempt counted = {
	.outcome = OUTCOME_COUNTED, .count = 400000, .low = 396000, .high = 404000
};

/* An Intel server, bare metal, everything permitted: the basis of the broken ones. */
static struct host sound(void)
{
	struct host h = {
		.live = true,
		.uid = 1000,
		.gid = 1000,
		.capabilities_known = true,
		.seccomp = 0,
		.kernel = "6.1.0-28-amd64",
		.program = "/usr/bin/tare",
		.paranoid = -1,
		.user_access = HOST_UNKNOWN,
		.nmi_watchdog = 0,
		.mlock_kb = 516,
		.sample_rate = 100000,
		.cpu_time_percent = 25,
		.kptr_restrict = 0,
		.symbols_known = true,
		.tracefs_mounted = true,
		.tracepoints_readable = true,
		.cpu = { .vendor = "GenuineIntel",
			 .model = "Xeon",
			 .counters_known = true,
			 .programmable = 8,
			 .fixed = 4,
			 .width_bits = 48 },
		.smt_active = 1,
		.cpu_id = "GenuineIntel-6-55-4",
		.freeze_on_smi = 1,
		.smi_known = true,
		.hz = 250,
		.turbo = 0,
		.governor = "performance",
		.sibling_busy = -1,
		.cpus_online = 64,
		.pmu = { { .name = "cpu",
			   .type = 4,
			   .rdpmc = 1,
			   .instructions = counted,
			   .cycles = counted,
			   .programmable = 8,
			   .fixed = 3 } },
		.pmus = 1,
	};

	for (int i = 0; i < TRY_COUNT; i++)
		h.tries[i] = counted;
	return h;
}

static struct attempt refusal(int code)
{
	return (struct attempt){ .outcome = OUTCOME_REFUSED, .code = code };
}

static void refuse_all(struct host *h, int code)
{
	for (int i = 0; i < TRY_COUNT; i++)
		h->tries[i] = refusal(code);
	h->pmu[0].instructions = h->pmu[0].cycles = refusal(code);
	h->pmu[0].programmable = h->pmu[0].fixed = 0;
}

static void no_pmu(struct host *h)
{
	h->pmus = 0;
	h->tries[TRY_INSTRUCTIONS] = h->tries[TRY_CYCLES] = h->tries[TRY_KERNEL] = refusal(ENOENT);
	h->tries[TRY_USER_READ] = (struct attempt){ 0 };
	memset(h->pmu, 0, sizeof(h->pmu));
}

static void virtual_machine(struct host *h, const char *signature)
{
	h->cpu.hypervisor = true;
	h->cpu.counters_known = false;
	h->cpu.programmable = h->cpu.fixed = 0;
	snprintf(h->cpu.signature, sizeof(h->cpu.signature), "%s", signature);
}

static void break_sound(struct host *h)
{
	(void)h;
}
static void break_kvm(struct host *h)
{
	virtual_machine(h, "KVMKVMKVM");
	no_pmu(h);
}
static void break_hyperv(struct host *h)
{
	virtual_machine(h, "Microsoft Hv");
	no_pmu(h);
}
static void break_strange_vm(struct host *h)
{
	virtual_machine(h, "NoSuchThing!");
	no_pmu(h);
}
static void break_no_driver(struct host *h)
{
	no_pmu(h);
}
static void break_debian(struct host *h)
{
	h->paranoid = 3;
	refuse_all(h, EACCES);
}
static void break_level_2(struct host *h)
{
	h->paranoid = 2;
	h->tries[TRY_SWITCHES] = h->tries[TRY_KERNEL] = h->tries[TRY_CPU_WIDE] = refusal(EACCES);
}
/* A kernel without levels above 2. */
static void break_mainline_3(struct host *h)
{
	break_level_2(h);
	h->paranoid = 3;
}
static void break_debian_tree(struct host *h)
{
	h->live = false;
	memset(h->tries, 0, sizeof(h->tries));
	h->paranoid = 3;
}
static void break_level_1(struct host *h)
{
	h->paranoid = 1;
	h->tries[TRY_CPU_WIDE] = refusal(EACCES);
}
static void break_docker(struct host *h)
{
	h->seccomp = 2;
	h->knobs_read_only = true;
	strcpy(h->container, "docker");
	refuse_all(h, EPERM);
}
static void break_podman(struct host *h)
{
	break_docker(h);
	strcpy(h->container, "podman");
}
static void break_service(struct host *h)
{
	h->seccomp = 2;
	refuse_all(h, EPERM);
}
static void break_sandbox(struct host *h)
{
	h->paranoid = HOST_UNKNOWN;
	h->seccomp = 2;
	refuse_all(h, ENOSYS);
}
static void break_no_perf(struct host *h)
{
	h->paranoid = HOST_UNKNOWN;
	refuse_all(h, ENOSYS);
}
static void break_selinux(struct host *h)
{
	refuse_all(h, EACCES);
}
static void break_files(struct host *h)
{
	refuse_all(h, EMFILE);
}
static void break_debian_in_docker(struct host *h)
{
	break_debian(h);
	h->knobs_read_only = true;
	strcpy(h->container, "docker");
}
static void break_zero(struct host *h)
{
	virtual_machine(h, "KVMKVMKVM");
	h->tries[TRY_INSTRUCTIONS] = h->pmu[0].instructions = (struct attempt){
		.outcome = OUTCOME_ZERO, .low = 396000
	};
	h->tries[TRY_CYCLES] = h->pmu[0].cycles = h->tries[TRY_INSTRUCTIONS];
}
static void break_wrong(struct host *h)
{
	h->tries[TRY_INSTRUCTIONS] = h->pmu[0].instructions = (struct attempt){
		.outcome = OUTCOME_WRONG, .count = 27, .low = 396000, .high = 404000
	};
	h->tries[TRY_CYCLES] = h->pmu[0].cycles = h->tries[TRY_INSTRUCTIONS];
}
static void break_held(struct host *h)
{
	h->nmi_watchdog = 1;
	h->tries[TRY_INSTRUCTIONS].outcome = h->pmu[0].instructions.outcome = OUTCOME_OFF;
	h->tries[TRY_CYCLES].outcome = h->pmu[0].cycles.outcome = OUTCOME_OFF;
}
static void break_cycles(struct host *h)
{
	h->tries[TRY_CYCLES] = h->pmu[0].cycles = (struct attempt){ .outcome = OUTCOME_ZERO };
}
static void break_shared(struct host *h)
{
	h->tries[TRY_INSTRUCTIONS] = h->pmu[0].instructions = (struct attempt){
		.outcome = OUTCOME_SHARED, .count = 9, .enabled_ns = 1000, .running_ns = 437
	};
}
static void break_watchdog(struct host *h)
{
	h->nmi_watchdog = 1;
	h->pmu[0].fixed = 2;
}
static void break_rdpmc(struct host *h)
{
	h->pmu[0].rdpmc = 0;
	h->tries[TRY_USER_READ] = (struct attempt){ 0 };
}
static void break_arm(struct host *h)
{
	h->cpu = (struct cpu_description){ 0 };
	strcpy(h->platform, "linux,dummy-virt");
	strcpy(h->pmu[0].name, "armv8_pmuv3");
	h->pmu[0].rdpmc = HOST_UNKNOWN;
	h->user_access = 0;
	h->tries[TRY_USER_READ] = (struct attempt){ 0 };
}
static void break_arm_old(struct host *h)
{
	break_arm(h);
	h->user_access = HOST_UNKNOWN;
}
static void break_hybrid(struct host *h)
{
	h->pmus = 2;
	h->pmu[1] = h->pmu[0];
	strcpy(h->pmu[0].name, "cpu_core");
	strcpy(h->pmu[0].cpus, "0-7");
	strcpy(h->pmu[1].name, "cpu_atom");
	strcpy(h->pmu[1].cpus, "8-15");
	h->pmu[1].instructions = refusal(ENOENT);
}
static void break_big_cores(struct host *h)
{
	break_hybrid(h);
	h->pmu[1].instructions = counted;
	h->pmu[0].instructions = h->tries[TRY_INSTRUCTIONS] = refusal(EBUSY);
	h->pmu[0].cycles = h->tries[TRY_CYCLES] = refusal(EBUSY);
}
static void break_busy(struct host *h)
{
	h->tries[TRY_INSTRUCTIONS] = h->pmu[0].instructions = refusal(EBUSY);
	h->tries[TRY_CYCLES] = h->pmu[0].cycles = refusal(EBUSY);
}
static void break_nothing_5_10(struct host *h)
{
	strcpy(h->kernel, "5.10.0-33-amd64");
}
static void break_5_9(struct host *h)
{
	strcpy(h->kernel, "5.9.0");
}
static void break_engine(struct host *h)
{
	break_kvm(h);
	h->exact_built = true;
	strcpy(h->exact_why, "memory cannot be mapped");
}
static void break_kvm_with_engine(struct host *h)
{
	break_kvm(h);
	h->exact_built = h->exact_works = true;
}
static void break_rootless(struct host *h)
{
	break_level_2(h);
	h->uid = 0;
	h->capabilities = PERFMON | ADMIN;
	h->user_namespace = true;
}
static void break_software(struct host *h)
{
	h->tries[TRY_FAULTS] = (struct attempt){ .outcome = OUTCOME_ZERO, .low = 64 };
}
static void break_mlock(struct host *h)
{
	h->mlock_kb = 8;
}
static void break_mlock_root(struct host *h)
{
	h->mlock_kb = 8;
	h->capabilities = PERFMON;
}
static void break_rate(struct host *h)
{
	h->sample_rate = 2000;
}
static void break_rate_stuck(struct host *h)
{
	h->sample_rate = 2000;
	h->cpu_time_percent = 100;
}
static void break_symbols(struct host *h)
{
	h->symbols_hidden = true;
	h->kptr_restrict = 2;
}
static void break_symbols_level_2(struct host *h)
{
	break_level_2(h);
	h->symbols_hidden = true;
}
static void break_tracefs(struct host *h)
{
	h->tracefs_mounted = h->tracepoints_readable = false;
}
static void break_tracefs_closed(struct host *h)
{
	h->tracepoints_readable = false;
}
static void break_kernel(struct host *h)
{
	strcpy(h->kernel, "4.18.0-553.el8");
}
static void break_kernel_mode(struct host *h)
{
	h->tries[TRY_KERNEL] = (struct attempt){ .outcome = OUTCOME_ZERO };
}

static void break_tsx(struct host *h)
{
	strcpy(h->cpu_id, "GenuineIntel-6-A7-1");
	h->tsx = true;
}

enum { PLACE_ANY = -1 };

static const struct {
	int line;
	void (*breaks)(struct host *h);
	enum verdict verdict;
	const char *id; /* the finding; NULL: only OK ones */
	enum mark mark;
	const char *what;    /* part of its text */
	const char *command; /* the first fix, exactly; NULL: none */
	int place;
} rows[] = {
	{ __LINE__, break_sound, VERDICT_HARDWARE, NULL, MARK_OK, NULL, NULL, PLACE_ANY },
	{ __LINE__, break_tsx, VERDICT_HARDWARE, "fault", MARK_WARN, "transactional memory is on",
	  "sed -i 's/^GRUB_CMDLINE_LINUX=\"/&tsx=off /' /etc/default/grub && update-grub",
	  FIX_HERE },
	{ __LINE__, break_kvm, VERDICT_SOFTWARE, "pmu", MARK_FAIL,
	  "this virtual machine (KVM) has none",
	  "qemu-system-$(uname -m) -enable-kvm -cpu host,pmu=on", FIX_HOST },
	{ __LINE__, break_hyperv, VERDICT_SOFTWARE, "pmu", MARK_FAIL, "(Hyper-V)",
	  "Set-VMProcessor -VMName GUEST -Perfmon @(\"pmu\")", FIX_HOST },
	{ __LINE__, break_strange_vm, VERDICT_SOFTWARE, "pmu", MARK_FAIL, "(a hypervisor)", NULL,
	  PLACE_ANY },
	{ __LINE__, break_no_driver, VERDICT_SOFTWARE, "pmu", MARK_FAIL, "none that it supports",
	  NULL, PLACE_ANY },
	{ __LINE__, break_debian, VERDICT_NOTHING, "permission", MARK_FAIL,
	  "kernel.perf_event_paranoid is 3", "sysctl kernel.perf_event_paranoid=2", FIX_HERE },
	{ __LINE__, break_debian_in_docker, VERDICT_NOTHING, "permission", MARK_FAIL,
	  "kernel.perf_event_paranoid is 3", "sysctl kernel.perf_event_paranoid=2", FIX_HOST },
	{ __LINE__, break_mainline_3, VERDICT_HARDWARE, "permission", MARK_OK,
	  "is 3, which this kernel treats as 2", NULL, PLACE_ANY },
	{ __LINE__, break_mainline_3, VERDICT_HARDWARE, "kernel-mode", MARK_WARN,
	  "kernel.perf_event_paranoid is 3", "sysctl kernel.perf_event_paranoid=1", FIX_HERE },
	{ __LINE__, break_debian_tree, VERDICT_NOTHING, "permission", MARK_FAIL,
	  "on kernels of Debian, Ubuntu and Android (others treat it as 2)",
	  "sysctl kernel.perf_event_paranoid=2", FIX_HERE },
	{ __LINE__, break_level_2, VERDICT_HARDWARE, "kernel-mode", MARK_WARN,
	  "may not count in the kernel", "sysctl kernel.perf_event_paranoid=1", FIX_HERE },
	{ __LINE__, break_level_2, VERDICT_HARDWARE, "cpu-wide", MARK_WARN,
	  "may not count whole CPUs", "sysctl kernel.perf_event_paranoid=0", FIX_HERE },
	{ __LINE__, break_level_1, VERDICT_HARDWARE, "cpu-wide", MARK_WARN,
	  "kernel.perf_event_paranoid is 1", "sysctl kernel.perf_event_paranoid=0", FIX_HERE },
	{ __LINE__, break_level_1, VERDICT_HARDWARE, "kernel-mode", MARK_OK,
	  "also count in the kernel", NULL, PLACE_ANY },
	{ __LINE__, break_docker, VERDICT_NOTHING, "permission", MARK_FAIL,
	  "fails with EPERM: a seccomp filter of docker", "docker run --cap-add PERFMON IMAGE",
	  FIX_START },
	{ __LINE__, break_docker, VERDICT_NOTHING, "seccomp", MARK_WARN, "refuses perf_event_open",
	  NULL, PLACE_ANY },
	{ __LINE__, break_podman, VERDICT_NOTHING, "permission", MARK_FAIL,
	  "a seccomp filter of podman", "podman run --cap-add PERFMON --cap-add SYS_ADMIN IMAGE",
	  FIX_START },
	{ __LINE__, break_service, VERDICT_NOTHING, "permission", MARK_FAIL,
	  "a seccomp filter, not the kernel", "SystemCallFilter=perf_event_open", FIX_START },
	{ __LINE__, break_sandbox, VERDICT_NOTHING, "permission", MARK_FAIL,
	  "fails with ENOSYS: a seccomp filter", "SystemCallFilter=perf_event_open", FIX_START },
	{ __LINE__, break_no_perf, VERDICT_NOTHING, "permission", MARK_FAIL,
	  "built without perf events", "CONFIG_PERF_EVENTS=y", FIX_HOST },
	{ __LINE__, break_selinux, VERDICT_NOTHING, "permission", MARK_FAIL, "a security module",
	  "sh -c 'dmesg | grep -iE \"denied|audit\" | tail'", FIX_HERE },
	{ __LINE__, break_files, VERDICT_NOTHING, "permission", MARK_FAIL, "fails with EMFILE",
	  NULL, PLACE_ANY },
	{ __LINE__, break_zero, VERDICT_SOFTWARE, "pmu", MARK_FAIL,
	  "instructions:u opens and counts nothing",
	  "qemu-system-$(uname -m) -enable-kvm -cpu host,pmu=on", FIX_HOST },
	{ __LINE__, break_wrong, VERDICT_SOFTWARE, "pmu", MARK_FAIL,
	  "counts 27, but 396000 to 404000 are correct", NULL, PLACE_ANY },
	{ __LINE__, break_held, VERDICT_SOFTWARE, "pmu", MARK_FAIL,
	  "is never scheduled on a counter", "sysctl kernel.nmi_watchdog=0", FIX_HERE },
	{ __LINE__, break_cycles, VERDICT_HARDWARE, "pmu", MARK_WARN,
	  "cycles:u opens and counts nothing", NULL, PLACE_ANY },
	{ __LINE__, break_shared, VERDICT_HARDWARE, "pmu", MARK_WARN,
	  "instructions:u counts only 43 % of the time", NULL, PLACE_ANY },
	{ __LINE__, break_watchdog, VERDICT_HARDWARE, "watchdog", MARK_WARN, "uses one counter",
	  "sysctl kernel.nmi_watchdog=0", FIX_HERE },
	{ __LINE__, break_watchdog, VERDICT_HARDWARE, "counters", MARK_WARN,
	  "10 counters at once, though the CPU has 12", NULL, PLACE_ANY },
	{ __LINE__, break_rdpmc, VERDICT_HARDWARE, "user-reads", MARK_WARN, "cpu/rdpmc is 0",
	  "sh -c 'echo 1 > /sys/bus/event_source/devices/cpu/rdpmc'", FIX_HERE },
	{ __LINE__, break_arm, VERDICT_HARDWARE, "user-reads", MARK_WARN,
	  "kernel.perf_user_access is 0", "sysctl kernel.perf_user_access=1", FIX_HERE },
	{ __LINE__, break_arm_old, VERDICT_HARDWARE, "user-reads", MARK_WARN, "Linux 5.17", NULL,
	  PLACE_ANY },
	{ __LINE__, break_arm, VERDICT_HARDWARE, "hypervisor", MARK_OK,
	  "under QEMU (linux,dummy-virt): it has a virtual PMU", NULL, PLACE_ANY },
	{ __LINE__, break_hybrid, VERDICT_HARDWARE, "hybrid", MARK_WARN,
	  "cpu_core on CPUs 0-7, cpu_atom on CPUs 8-15", NULL, PLACE_ANY },
	{ __LINE__, break_hybrid, VERDICT_HARDWARE, "hybrid", MARK_WARN,
	  "and instructions count on only 1", NULL, PLACE_ANY },
	{ __LINE__, break_big_cores, VERDICT_HARDWARE, "pmu", MARK_FAIL,
	  "instructions:u is refused (EBUSY)", NULL, PLACE_ANY },
	{ __LINE__, break_busy, VERDICT_SOFTWARE, "pmu", MARK_FAIL,
	  "instructions:u is refused (EBUSY)", NULL, PLACE_ANY },
	{ __LINE__, break_nothing_5_10, VERDICT_HARDWARE, "kernel", MARK_OK, "Linux 5.10.0", NULL,
	  PLACE_ANY },
	{ __LINE__, break_5_9, VERDICT_HARDWARE, "kernel", MARK_WARN, "Linux 5.9.0", NULL,
	  PLACE_ANY },
	{ __LINE__, break_sound, VERDICT_HARDWARE, "smt", MARK_OK, "SMT is on", NULL, PLACE_ANY },
	{ __LINE__, break_sound, VERDICT_HARDWARE, "watchdog", MARK_OK, "uses no counter", NULL,
	  PLACE_ANY },
	{ __LINE__, break_sound, VERDICT_HARDWARE, "pmu", MARK_OK, "counted 400000 of 400000", NULL,
	  PLACE_ANY },
	{ __LINE__, break_sound, VERDICT_HARDWARE, "counters", MARK_OK,
	  "11 counters at once: 8 programmable, 3 fixed", NULL, PLACE_ANY },
	{ __LINE__, break_engine, VERDICT_SOFTWARE, "exact-engine", MARK_WARN,
	  "does not work here: memory cannot be mapped", NULL, PLACE_ANY },
	{ __LINE__, break_kvm, VERDICT_SOFTWARE, "exact-engine", MARK_WARN,
	  "this build of tare has no exact engine", NULL, PLACE_ANY },
	{ __LINE__, break_kvm_with_engine, VERDICT_SOFTWARE, "pmu", MARK_FAIL, "(KVM) has none",
	  "tare stat --engine exact -e instructions:u -- COMMAND", FIX_HERE },
	{ __LINE__, break_kvm_with_engine, VERDICT_SOFTWARE, "exact-engine", MARK_OK,
	  "--engine exact", NULL, PLACE_ANY },
	{ __LINE__, break_rootless, VERDICT_HARDWARE, "kernel-mode", MARK_WARN,
	  "may not count in the kernel", "sysctl kernel.perf_event_paranoid=1", FIX_HOST },
	{ __LINE__, break_software, VERDICT_HARDWARE, "software", MARK_FAIL, "page-faults 0 for 64",
	  NULL, PLACE_ANY },
	{ __LINE__, break_mlock, VERDICT_HARDWARE, "buffers", MARK_WARN, "8 KiB",
	  "sysctl kernel.perf_event_mlock_kb=516", FIX_HERE },
	{ __LINE__, break_mlock_root, VERDICT_HARDWARE, "buffers", MARK_OK, "8 KiB", NULL,
	  PLACE_ANY },
	{ __LINE__, break_rate, VERDICT_HARDWARE, "sample-rate", MARK_WARN, "2000 samples",
	  "sysctl kernel.perf_event_max_sample_rate=100000", FIX_HERE },
	{ __LINE__, break_rate_stuck, VERDICT_HARDWARE, "sample-rate", MARK_WARN, "2000 samples",
	  "sysctl kernel.perf_cpu_time_max_percent=25 kernel.perf_event_max_sample_rate=100000",
	  FIX_HERE },
	{ __LINE__, break_symbols, VERDICT_HARDWARE, "kernel-symbols", MARK_WARN,
	  "kernel.kptr_restrict is 2", "sysctl kernel.kptr_restrict=0", FIX_HERE },
	{ __LINE__, break_symbols_level_2, VERDICT_HARDWARE, "kernel-symbols", MARK_OK,
	  "cannot sample the kernel anyway", NULL, PLACE_ANY },
	{ __LINE__, break_tracefs, VERDICT_HARDWARE, "tracepoints", MARK_WARN,
	  "tracefs is not mounted",
	  "mount -t tracefs -o mode=750,gid=1000 tracefs /sys/kernel/tracing", FIX_HERE },
	{ __LINE__, break_tracefs_closed, VERDICT_HARDWARE, "tracepoints", MARK_WARN,
	  "closed to this user", "mount -o remount,mode=750,gid=1000 /sys/kernel/tracing",
	  FIX_HERE },
	{ __LINE__, break_kernel, VERDICT_HARDWARE, "kernel", MARK_WARN, "4.18.0", NULL,
	  PLACE_ANY },
	{ __LINE__, break_kernel_mode, VERDICT_HARDWARE, "kernel-mode", MARK_WARN,
	  "instructions:k opens and counts nothing", NULL, PLACE_ANY },
};

static const struct finding *find(const struct diagnosis *d, const char *id)
{
	for (unsigned i = 0; i < d->findings; i++)
		if (!strcmp(d->finding[i].id, id))
			return &d->finding[i];
	return NULL;
}

TEST(each_fault_is_found_and_answered)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct host h = sound();
		static struct diagnosis d;

		rows[i].breaks(&h);
		doctor_judge(&h, &d);
		CHECK_EQ(d.verdict, rows[i].verdict, "row at line %d: %s", rows[i].line,
			 d.sentence);
		if (!rows[i].id) {
			for (unsigned f = 0; f < d.findings; f++)
				CHECK_EQ(d.finding[f].mark, MARK_OK, "%s: %s", d.finding[f].id,
					 d.finding[f].what);
			continue;
		}

		const struct finding *f = find(&d, rows[i].id);

		if (!CHECK(f != NULL, "row at line %d: no finding '%s'", rows[i].line, rows[i].id))
			continue;
		CHECK_EQ(f->mark, rows[i].mark, "row at line %d: %s", rows[i].line, f->what);
		CHECK(strstr(f->what, rows[i].what), "row at line %d: '%s' not in '%s'",
		      rows[i].line, rows[i].what, f->what);
		CHECK_EQ(f->fixes > 0, rows[i].command != NULL, "row at line %d: fixes",
			 rows[i].line);
		if (rows[i].command && f->fixes) {
			CHECK_STR(f->fix[0].text, rows[i].command, "row at line %d", rows[i].line);
			CHECK_EQ(f->fix[0].place, rows[i].place, "row at line %d", rows[i].line);
		}
	}
}

/*
 * For any fault: worst first, no duplicate id, a reason for every finding that is not OK, none
 * truncated.
 */
TEST(every_diagnosis_is_in_form)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct host h = sound();
		static struct diagnosis d;

		rows[i].breaks(&h);
		doctor_judge(&h, &d);
		CHECK(d.sentence[0] && strlen(d.sentence) < sizeof(d.sentence) - 1,
		      "row at line %d", rows[i].line);
		for (unsigned f = 0; f < d.findings; f++) {
			const struct finding *x = &d.finding[f];

			CHECK(f == 0 || x->mark >= x[-1].mark, "row at line %d: %s is too low",
			      rows[i].line, x->id);
			CHECK(find(&d, x->id) == x, "row at line %d: %s is there twice",
			      rows[i].line, x->id);
			CHECK(x->what[0] && strlen(x->what) < sizeof(x->what) - 1,
			      "row at line %d: %s", rows[i].line, x->what);
			CHECK((x->why[0] != 0) == (x->mark != MARK_OK),
			      "row at line %d: %s: why '%s'", rows[i].line, x->id, x->why);
			CHECK(strlen(x->why) < sizeof(x->why) - 1, "row at line %d: %s",
			      rows[i].line, x->why);
			CHECK(x->mark != MARK_OK || x->fixes == 0,
			      "row at line %d: %s is well and has a remedy", rows[i].line, x->id);
			for (unsigned r = 0; r < x->fixes; r++)
				CHECK(x->fix[r].text[0] &&
					      strlen(x->fix[r].text) < sizeof(x->fix[r].text) - 1,
				      "%s", x->fix[r].text);
		}
	}
}

/* Knobs that cannot be read (a masked /proc) are reported as such, whatever else is wrong. */
TEST(unreadable_knobs_are_not_numbers)
{
	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		struct host h = sound();
		static struct diagnosis d;

		rows[i / 2].breaks(&h);
		h.live = i % 2;
		h.paranoid = h.user_access = h.nmi_watchdog = h.mlock_kb = h.sample_rate =
			HOST_UNKNOWN;
		h.cpu_time_percent = h.kptr_restrict = h.smt_active = h.cpus_online = HOST_UNKNOWN;
		h.uid = h.seccomp = HOST_UNKNOWN;
		doctor_judge(&h, &d);
		CHECK(!strstr(d.sentence, "-922"), "row at line %d: %s", rows[i / 2].line,
		      d.sentence);
		for (unsigned f = 0; f < d.findings; f++) {
			CHECK(!strstr(d.finding[f].what, "-922"), "row at line %d: %s",
			      rows[i / 2].line, d.finding[f].what);
			for (unsigned x = 0; x < d.finding[f].fixes; x++)
				CHECK(!strstr(d.finding[f].fix[x].text, "-922"), "%s",
				      d.finding[f].fix[x].text);
		}
	}
}

/*
 * CAP_PERFMON overrides levels up to 2, CAP_SYS_ADMIN any, but only in the initial user namespace.
 */
TEST(capabilities_outweigh_the_level)
{
	static const struct {
		int line;
		uint64_t capabilities;
		bool user_namespace;
		long paranoid;
		enum verdict verdict;
		enum mark kernel_mode;
	} levels[] = {
		{ __LINE__, 0, false, 4, VERDICT_NOTHING, MARK_OK },
		{ __LINE__, 0, false, 3, VERDICT_NOTHING, MARK_OK },
		{ __LINE__, 0, false, 2, VERDICT_HARDWARE, MARK_WARN },
		{ __LINE__, 0, false, 1, VERDICT_HARDWARE, MARK_OK },
		{ __LINE__, 0, false, -1, VERDICT_HARDWARE, MARK_OK },
		{ __LINE__, PERFMON, false, 3, VERDICT_NOTHING, MARK_OK },
		{ __LINE__, PERFMON, false, 2, VERDICT_HARDWARE, MARK_OK },
		{ __LINE__, ADMIN, false, 3, VERDICT_HARDWARE, MARK_OK },
		{ __LINE__, PERFMON | ADMIN, true, 3, VERDICT_NOTHING, MARK_OK },
		{ __LINE__, PERFMON, true, 2, VERDICT_HARDWARE, MARK_WARN },
		{ __LINE__, PERFMON << 1, false, 3, VERDICT_NOTHING, MARK_OK },
		{ __LINE__, 0, false, HOST_UNKNOWN, VERDICT_NOTHING, MARK_OK },
	};

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		struct host h = sound();
		static struct diagnosis d;

		h.live = false;
		memset(h.tries, 0, sizeof(h.tries));
		h.capabilities = levels[i].capabilities;
		h.user_namespace = levels[i].user_namespace;
		h.paranoid = levels[i].paranoid;
		doctor_judge(&h, &d);
		CHECK_EQ(d.verdict, levels[i].verdict, "row at line %d: %s", levels[i].line,
			 d.sentence);

		const struct finding *f = find(&d, "kernel-mode");

		CHECK_EQ(f ? f->mark : MARK_OK, levels[i].kernel_mode, "row at line %d",
			 levels[i].line);
	}
}

/* The verdict says what can still be counted, and promises only what was found to work. */
TEST(the_verdict_says_what_works)
{
	static const struct {
		int line;
		void (*breaks)(struct host *h);
		bool exact, software;
		const char *end;
	} ends[] = {
		{ __LINE__, break_kvm, false, true, "has none. Software events work." },
		{ __LINE__, break_kvm, true, true,
		  "Exact instruction counts and software events work." },
		{ __LINE__, break_kvm, true, false,
		  "Exact instruction counts work; software events count wrongly." },
		{ __LINE__, break_kvm, false, false, "has none. Software events count wrongly." },
		{ __LINE__, break_debian, true, true,
		  "may not count at all. Exact instruction counts work." },
		{ __LINE__, break_debian, false, true, "unprivileged users may not count at all." },
		{ __LINE__, break_sound, true, true,
		  "(cpu, 11 counters at once), in user mode and in the kernel, and whole CPUs." },
		{ __LINE__, break_level_2, false, true,
		  "(cpu, 11 counters at once), in user mode only." },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		struct host h = sound();
		static struct diagnosis d;

		ends[i].breaks(&h);
		h.exact_built = h.exact_works = ends[i].exact;
		if (!ends[i].software)
			break_software(&h);
		doctor_judge(&h, &d);
		CHECK(strlen(d.sentence) > strlen(ends[i].end) &&
			      !strcmp(d.sentence + strlen(d.sentence) - strlen(ends[i].end),
				      ends[i].end),
		      "row at line %d: %s", ends[i].line, d.sentence);
	}
}

/* On a kernel without levels above 2 the capability overrides them; on the others it does not. */
TEST(the_capability_is_offered_where_it_helps)
{
	static const struct {
		void (*break_it)(struct host *h);
		const char *finding;
		bool offered;
	} rows[] = {
		{ break_level_2, "kernel-mode", true },
		{ break_mainline_3, "kernel-mode", true },
		{ break_debian, "permission", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct host h = sound();
		static struct diagnosis d;
		bool offered = false;

		rows[i].break_it(&h);
		doctor_judge(&h, &d);

		const struct finding *f = find(&d, rows[i].finding);

		for (size_t k = 0; f && k < f->fixes; k++)
			offered |= strstr(f->fix[k].text, "setcap cap_perfmon+ep") != NULL;
		CHECK(offered == rows[i].offered, "row %zu", i);
	}
}

TEST(a_program_with_an_odd_name_is_not_pasted_into_a_shell)
{
	struct host h = sound();
	static struct diagnosis d;

	break_debian(&h);
	strcpy(h.program, "/tmp/a b$(reboot)/tare");
	doctor_judge(&h, &d);
	for (unsigned i = 0; i < find(&d, "permission")->fixes; i++)
		CHECK(!strstr(find(&d, "permission")->fix[i].text, "reboot"), "%s",
		      find(&d, "permission")->fix[i].text);
}

TEST(hypervisors_by_signature_before_platform)
{
	struct host h = sound();

	CHECK(hypervisor_of(&h) == NULL, "bare metal");
	strcpy(h.platform, "QEMU Standard PC (Q35 + ICH9, 2009)");
	CHECK_STR(hypervisor_of(&h)->name, "QEMU");
	strcpy(h.cpu.signature, "XenVMMXenVMM");
	CHECK_STR(hypervisor_of(&h)->name, "Xen");
	strcpy(h.platform, "Dell Inc. PowerEdge R750");
	h.cpu.signature[0] = '\0';
	CHECK(hypervisor_of(&h) == NULL, "a server");
	h.cpu.hypervisor = true;
	CHECK_STR(hypervisor_of(&h)->name, "a hypervisor");
}

TEST_MAIN()
