/* SPDX-License-Identifier: MIT */
/*
 * Selects by the PMUs that exist and their features, not by a list of processors: the kernel shows
 * an event or a format only if the processor supports it. Sources: Linux,
 * arch/x86/events/intel/{core,ds}.c, arch/x86/events/amd/ibs.c, drivers/perf/arm_spe_pmu.c, and
 * their sysfs files.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "pmu/machine.h"
#include "pmu/precise.h"

const char *const precise_names[PRECISE_WHATS] = { "memory", "branches", "fetch", "all" };

enum {
	/*
	 * PEBS: every load. Source: Intel SDM vol. 3B, "Load Latency Performance Monitoring
	 * Facility"
	 */
	LDLAT_LEAST = 3,
	SPE_PERIOD = 4096,
	/*
	 * the interval has no lower bits. Source: linux arm_spe_pmu.c,
	 * arm_spe_event_sanitise_period()
	 */
	SPE_MULTIPLE = 256,
	IBS_MULTIPLE = 16, /* the counter has a resolution of 16 */
	IBS_LATENCY_LEAST = 128,
	IBS_LATENCY_MOST =
		2048, /* cycles. Source: Linux, arch/x86/events/amd/ibs.c, perf_ibs_init() */
};

#define VERSION(major, minor) ((major)*1000 + (minor))

/* Version of the running kernel; 0: unknown. */
static unsigned kernel(struct machine *m)
{
	char line[64], *end;
	unsigned long major;

	if (file_line(machine_root(m), "/proc/sys/kernel/osrelease", line, sizeof(line), NULL) < 0)
		return 0;
	major = strtoul(line, &end, 10);
	return *end == '.' ? (unsigned)VERSION(major, strtoul(end + 1, NULL, 10)) : 0;
}

static void add_text(char *to, size_t room, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void add_text(char *to, size_t room, const char *fmt, ...)
{
	size_t n = strlen(to);
	va_list args;

	va_start(args, fmt);
	vsnprintf(to + n, room - n, fmt, args);
	va_end(args);
}

#define ADD_EVENT(out, ...)                                                                        \
	(add_text((out)->events, sizeof((out)->events), (out)->events[0] ? "," : ""),              \
	 add_text((out)->events, sizeof((out)->events), __VA_ARGS__))

static bool has_event(struct machine *m, const struct pmu *pmu, const char *name)
{
	char terms[256];

	return machine_event(m, pmu, name, terms, sizeof(terms), NULL) == 0;
}

static bool has_format(struct machine *m, const struct pmu *pmu, const char *name)
{
	struct format f;

	return machine_format(m, pmu, name, &f, NULL) == 0;
}

static int no_fetch(const char *what, struct tare_error *err)
{
	return tare_fail(err, ENOTSUP, "--precise=fetch: %s", what);
}

/* ---- Intel: PEBS ---- */

static unsigned precise_level(struct machine *m, const struct pmu *pmu)
{
	char path[160];
	uint64_t most;

	snprintf(path, sizeof(path), PMU_DEVICES "/%s/caps/max_precise", pmu->name);
	return machine_number(m, path, 0, &most, NULL) < 0 ? 0 : (unsigned)most;
}

/*
 * If the processor requires it, a second event must be counted in the same group. Source:
 * intel_pmu_hw_config().
 */
static void pebs_memory(struct machine *m, const struct pmu *pmu, uint32_t latency,
			struct precise_choice *out)
{
	if (has_event(m, pmu, "mem-loads-aux"))
		ADD_EVENT(out, "{%s/mem-loads-aux/,%s/mem-loads,ldlat=%u/P}", pmu->name, pmu->name,
			  latency);
	else
		ADD_EVENT(out, "%s/mem-loads,ldlat=%u/P", pmu->name, latency);
	if (has_event(m, pmu, "mem-stores"))
		ADD_EVENT(out, "%s/mem-stores/P", pmu->name);
}

/* One core PMU, or each of a hybrid machine's. */
static int pebs(struct machine *m, const struct pmu *const *cores, size_t n,
		const struct precise_question *q, struct precise_choice *out,
		struct tare_error *err)
{
	uint32_t latency = q->min_latency > LDLAT_LEAST ? q->min_latency : LDLAT_LEAST;
	bool memory = q->what == PRECISE_MEMORY || q->what == PRECISE_ALL;
	bool branches = q->what == PRECISE_BRANCHES || q->what == PRECISE_ALL;

	if (latency > UINT16_MAX)
		return tare_fail(err, ERANGE, "PEBS takes a least latency of up to %d cycles",
				 UINT16_MAX);
	for (size_t i = 0; i < n; i++) {
		if (memory && has_event(m, cores[i], "mem-loads"))
			pebs_memory(m, cores[i], latency, out);
		if (branches)
			ADD_EVENT(out, "%s/branch-instructions/P,%s/branch-misses/P",
				  cores[i]->name, cores[i]->name);
		/*
		 * FRONTEND_RETIRED.L1I_MISS. Source: Intel perfmon event lists, Skylake to Sapphire
		 * Rapids.
		 */
		if (q->what == PRECISE_FETCH && has_format(m, cores[i], "frontend"))
			ADD_EVENT(out, "%s/event=0xc6,umask=0x1,frontend=0x12/P", cores[i]->name);
	}
	if (!out->events[0]) {
		no_fetch(
			"this processor's PEBS cannot sample instructions that missed the L1 instruction cache (Skylake and later can)",
			err);
		return -ENOTSUP;
	}
	out->weights = memory && kernel(m) >= VERSION(5, 12);
	if (memory)
		add_text(out->why, sizeof(out->why), "PEBS: loads of %s, and stores%s",
			 latency > LDLAT_LEAST ? "at least that latency" : "any latency",
			 branches ? "; branches" : "");
	else
		add_text(out->why, sizeof(out->why), "PEBS: %s",
			 branches ? "branches, and those mispredicted"
				  : "instructions whose bytes were not in the L1 cache");
	return 0;
}

/* ---- AMD: IBS ---- */

static int ibs_too_old(unsigned version, struct tare_error *err)
{
	tare_fail(err, ENOTSUP, "IBS follows a task from Linux 6.2 on; this is %u.%u",
		  version / 1000, version % 1000);
	tare_hint(err,
		  "-a records all CPUs (needs kernel.perf_event_paranoid <= 0 or CAP_PERFMON)");
	return -ENOTSUP;
}

/*
 * Erratum 1606: on these processors a minimum latency works only together with the L3 miss filter,
 * which Linux sets; until 7.0 it did so for later processors, too. Source: Linux,
 * arch/x86/events/amd/ibs.c, commit 898138efc990.
 */
static bool zen_5(struct machine *m)
{
	return !strncmp(machine_cpu(m), "AuthenticAMD-26-", 16);
}

static int ibs(struct machine *m, const struct precise_question *q, struct precise_choice *out,
	       struct tare_error *err)
{
	const char *name = q->what == PRECISE_FETCH ? "ibs_fetch" : "ibs_op";
	const struct pmu *pmu;
	unsigned version = kernel(m);
	char terms[64] = "";

	if (machine_pmu(m, name, &pmu, NULL) < 0)
		return tare_fail(err, ENOTSUP, "--precise=%s: this kernel shows no %s",
				 precise_names[q->what], name);
	if (!q->all_cpus && version && version < VERSION(6, 2))
		return ibs_too_old(version, err);
	if (q->what == PRECISE_FETCH && has_format(m, pmu, "rand_en"))
		add_text(terms, sizeof(terms), "rand_en=1");
	if (q->what != PRECISE_FETCH && has_format(m, pmu, "cnt_ctl"))
		add_text(terms, sizeof(terms), "cnt_ctl=1");
	if (q->min_latency && !has_format(m, pmu, "ldlat")) {
		tare_fail(
			err, ENOTSUP,
			"IBS of this processor cannot leave out fast loads (Zen 5 can, from Linux 6.14 on)");
		if (has_format(m, pmu, "l3missonly"))
			tare_hint(
				err,
				"-e ibs_op/cnt_ctl=1,l3missonly=1/ samples only those that miss the L3 cache");
		return -ENOTSUP;
	}
	if (q->min_latency && q->what != PRECISE_MEMORY)
		return tare_fail(
			err, ENOTSUP,
			"IBS samples only loads if fast ones are excluded: --precise=memory");
	if (q->min_latency &&
	    (q->min_latency < IBS_LATENCY_LEAST || q->min_latency > IBS_LATENCY_MOST))
		return tare_fail(err, ERANGE, "IBS takes a least latency of %d to %d cycles",
				 IBS_LATENCY_LEAST, IBS_LATENCY_MOST);
	if (q->min_latency)
		add_text(terms, sizeof(terms), "%sldlat=%u", terms[0] ? "," : "", q->min_latency);
	ADD_EVENT(out, "%s/%s/", name, terms);
	out->registers = true;
	out->multiple = IBS_MULTIPLE;
	add_text(
		out->why, sizeof(out->why), "IBS: %s",
		q->what == PRECISE_FETCH ? "fetches, at random intervals"
			: q->min_latency ? zen_5(m)
				? "loads that missed L3 and took longer than that"
				: "loads that took longer than that"
			: terms[0]
			? "micro-operations of every kind; loads, stores and branches are distinguished when read"
			: "operations of every kind, by cycles: this processor cannot count micro-operations, so slow ones are sampled more often");
	add_text(
		out->refused, sizeof(out->refused),
		"IBS samples both user and kernel: it needs kernel.perf_event_paranoid <= 1%s, or CAP_PERFMON",
		q->all_cpus ? " (-a: <= 0)" : "");
	return 0;
}

/* ---- Arm: SPE ---- */

/* For users who may sample the kernel. Source: linux arm_spe_pmu.c, arm_spe_pmu_event_init(). */
#define PHYSICAL "pa_enable"

static const char *spe_name(struct machine *m)
{
	const char *const *names;
	size_t n;

	if (machine_devices(m, &names, &n, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (!strncmp(names[i], "arm_spe_", 8))
			return names[i];
	return NULL;
}

/* Each type of core may have its own SPE, which samples only its CPUs. */
static void say_other_spe(struct machine *m, const char *name, struct precise_choice *out)
{
	const char *const *names;
	char path[160], cpus[64];
	size_t n;

	if (machine_devices(m, &names, &n, NULL) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		if (strncmp(names[i], "arm_spe_", 8) || !strcmp(names[i], name))
			continue;
		snprintf(path, sizeof(path), PMU_DEVICES "/%s/cpumask", names[i]);
		if (file_line(machine_root(m), path, cpus, sizeof(cpus), NULL) < 0)
			snprintf(cpus, sizeof(cpus), "others");
		add_text(out->why, sizeof(out->why), "; nothing on CPUs %s, which -e %s// samples",
			 cpus, names[i]);
	}
}

static int spe(struct machine *m, const char *name, const struct precise_question *q,
	       struct precise_choice *out, struct tare_error *err)
{
	static const struct {
		const char *format;
		unsigned of; /* bits of enum precise_what */
	} rows[] = {
		{ "ts_enable", ~0u },
		{ PHYSICAL, 1 << PRECISE_MEMORY | 1 << PRECISE_ALL },
		{ "jitter", ~0u },
		{ "load_filter", 1 << PRECISE_MEMORY },
		{ "store_filter", 1 << PRECISE_MEMORY },
		{ "branch_filter", 1 << PRECISE_BRANCHES },
	};
	const struct pmu *pmu;
	char terms[160] = "", path[160];
	uint64_t least;

	if (q->what == PRECISE_FETCH)
		return no_fetch(
			"SPE samples operations, but no fetches: --precise=all includes all operations",
			err);
	if (machine_pmu(m, name, &pmu, err) < 0)
		return -ENOTSUP;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool physical = !strcmp(rows[i].format, PHYSICAL);

		if (!(rows[i].of >> q->what & 1) || (physical && q->no_physical) ||
		    !has_format(m, pmu, rows[i].format))
			continue;
		add_text(terms, sizeof(terms), "%s%s=1", terms[0] ? "," : "", rows[i].format);
		out->physical |= physical;
	}
	if (q->min_latency >= 1 << 12)
		return tare_fail(err, ERANGE, "SPE takes a least latency of up to 4095 cycles");
	if (q->min_latency)
		add_text(terms, sizeof(terms), ",min_latency=%u", q->min_latency);
	snprintf(path, sizeof(path), PMU_DEVICES "/%s/caps/min_interval", name);
	if (machine_number(m, path, 0, &least, err) < 0)
		return -ENOTSUP;
	ADD_EVENT(out, "%s/%s/", name, terms);
	out->period = least > SPE_PERIOD ? least : SPE_PERIOD;
	out->least = least;
	out->multiple = SPE_MULTIPLE;
	out->aux = true;
	add_text(out->why, sizeof(out->why), "SPE: %s",
		 q->what == PRECISE_MEMORY             ? "loads and stores"
			 : q->what == PRECISE_BRANCHES ? "branches"
						       : "operations of every kind");
	say_other_spe(m, name, out);
	return 0;
}

/* ---- which ---- */

static bool in_virtual_machine(struct machine *m)
{
	char *all;
	bool found;

	if (file_read(machine_root(m), "/proc/cpuinfo", 16 << 20, &all, NULL, NULL) < 0)
		return false;
	found = strstr(all, " hypervisor") != NULL;
	free(all);
	return found;
}

static int none(struct machine *m, struct tare_error *err)
{
	const char *cpu = machine_cpu(m);
	const char *what = !strncmp(cpu, "AuthenticAMD", 12) ? "AMD's IBS"
		: !strncmp(cpu, "GenuineIntel", 12)          ? "Intel's PEBS"
		: !strncmp(cpu, "0x", 2)                     ? "Arm's SPE"
							     : "any hardware for it";

	tare_fail(err, ENOTSUP, "no precise samples: this %s does not show %s",
		  in_virtual_machine(m) ? "virtual machine" : "machine's kernel", what);
	tare_hint(
		err,
		HAVE_EXACT
			? "--engine exact needs no such hardware: of a command, every N-th access with its address"
			: "run it on the machine itself");
	return -ENOTSUP;
}

/* Every PEBS supports branches; loads need a load event (Goldmont has none). */
static bool has_pebs(struct machine *m, const struct pmu *const *cores, size_t n,
		     enum precise_what what)
{
	bool intel = !strncmp(machine_cpu(m), "GenuineIntel", 12);

	for (size_t i = 0; i < n; i++)
		if (precise_level(m, cores[i]) &&
		    ((intel && what == PRECISE_BRANCHES) || has_event(m, cores[i], "mem-loads")))
			return true;
	return false;
}

int precise_choose(struct machine *m, const struct precise_question *q, struct precise_choice *out,
		   struct tare_error *err)
{
	const struct pmu *const *cores, *op;
	const char *name = spe_name(m);
	size_t n = 0;

	*out = (struct precise_choice){ .multiple = 1 };
	if (name)
		return spe(m, name, q, out, err);
	if (machine_pmu(m, "ibs_op", &op, NULL) == 0)
		return ibs(m, q, out, err);
	if (machine_cores(m, &cores, &n, NULL) == 0 && has_pebs(m, cores, n, q->what))
		return pebs(m, cores, n, q, out, err);
	return none(m, err);
}

int precise_exact(const struct precise_question *q, struct precise_choice *out,
		  struct tare_error *err)
{
	static const struct {
		const char *event, *why;
	} rows[PRECISE_WHATS] = {
		[PRECISE_MEMORY] = { "exact/accesses/",
				     "the exact engine: loads and stores of the command, in user mode" },
		[PRECISE_BRANCHES] = { "exact/branches/",
				       "the exact engine: branches of the command, in user mode" },
	};

	*out = (struct precise_choice){ .multiple = 1 };
	if (!rows[q->what].event) {
		tare_fail(err, ENOTSUP,
			  "the exact engine samples one kind of event at a time, and no fetches");
		tare_hint(err, "--precise=memory or --precise=branches");
		return -ENOTSUP;
	}
	if (q->min_latency)
		return tare_fail(
			err, ENOTSUP,
			"the exact engine knows no latencies: --min-latency needs hardware");
	snprintf(out->events, sizeof(out->events), "%s", rows[q->what].event);
	snprintf(out->why, sizeof(out->why), "%s", rows[q->what].why);
	return 0;
}
