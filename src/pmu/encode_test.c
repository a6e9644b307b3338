/* SPDX-License-Identifier: MIT */
/*
 * Encodings on the trees of tests/sysfs. The expected values come from perf's manual and perf's own
 * tests.
 */
#include "pmu/encode.h"
#include "pmu/trees.h"
#include "tap.h"

static int encode(const char *tree, const char *text, bool keep, struct encoding_list *out,
		  struct tare_error *err)
{
	struct encode_options opt = { .keep_unavailable = keep };
	struct event_list events = { 0 };
	char root[256];
	int ret = event_list_parse(text, &events, err);

	*out = (struct encoding_list){ 0 };
	if (ret == 0) {
		struct machine *m = machine_open(tree_root(tree, root), err);

		ret = pmu_encode(m, &events, &opt, out, err);
		machine_close(m);
	}
	event_list_free(&events);
	return ret;
}

/* "name pmu type:config[,config1,config2] flags @place cpus group" */
static void draw(const struct encoding *e, char *to, size_t room)
{
	static const char *const places[] = { "task", "core", "uncore" };
	const struct perf_event_attr *a = &e->attr;
	struct text cpus = { 0 };
	char more[64] = "";

	cpus_write(&cpus, &e->cpus);
	if (a->config1 || a->config2)
		snprintf(more, sizeof(more), ",%#llx,%#llx", (unsigned long long)a->config1,
			 (unsigned long long)a->config2);
	snprintf(to, room, "%s %s %u:%#llx%s %s%s%s%s%s%s%s%s%s%.*s@%s %s g%u%s%s", e->name,
		 e->pmu[0] ? e->pmu : "-", a->type, (unsigned long long)a->config, more,
		 a->exclude_user ? "!u" : "", a->exclude_kernel ? "!k" : "",
		 a->exclude_hv ? "!h" : "", a->exclude_guest ? "!G" : "",
		 a->exclude_host ? "!H" : "", a->exclude_idle ? "I" : "", a->pinned ? "D" : "",
		 a->exclusive ? "e" : "", e->weak ? "W" : "", (int)a->precise_ip, "ppp",
		 places[e->place], cpus.s ? cpus.s : "any", e->group, e->in_user ? " in user" : "",
		 e->unavailable ? " unavailable" : "");
	text_free(&cpus);
}

static const struct {
	int line;
	const char *tree, *text;
	const char *drawn[6];
} rows[] = {
	{ __LINE__, "intel-server", "msr/tsc=1/", { "msr/tsc=1/ msr 21:0 @task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "mem-stores:uP",
	  { "mem-stores:uP cpu 4:0x82d0 !k!h!Gppp@task any g0" } },
	/* one core PMU */
	{ __LINE__, "intel-server", "cycles", { "cycles - 0:0 !G@task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "instructions:u",
	  { "instructions:u - 0:0x1 !k!h!G@task any g0" } },
	{ __LINE__, "intel-server", "cycles:G", { "cycles:G - 0:0 !H@task any g0" } },
	{ __LINE__, "intel-server", "cycles:GH", { "cycles:GH - 0:0 @task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "cycles:kIDeWpp",
	  { "cycles:kIDeWpp - 0:0 !u!h!GIDeWpp@task any g0" } },
	{ __LINE__, "intel-server", "cycles:P", { "cycles:P - 0:0 !Gppp@task any g0" } },
	{ __LINE__, "amd-zen4", "cycles:P", { "cycles:P - 0:0 !G@task any g0" } },
	{ __LINE__, "intel-server", "r1a8:k", { "r1a8:k - 4:0x1a8 !u!h!G@task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "L1-dcache-load-misses",
	  { "L1-dcache-load-misses - 3:0x10000 !G@task any g0" } },
	{ __LINE__, "intel-server", "task-clock", { "task-clock - 1:0x1 @task any g0" } },
	{ __LINE__, "intel-server", "task-clock:u", { "task-clock:u - 1:0x1 !k!h@task any g0" } },
	{ __LINE__, "intel-server", "4:0x3c:u", { "4:0x3c:u - 4:0x3c !k!h@task any g0" } },
	/* terms */
	{ __LINE__,
	  "intel-server",
	  "cpu/event=0xd1,umask=0x08/",
	  { "cpu/event=0xd1,umask=0x08/ cpu 4:0x8d1 !G@task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "cpu/event=0xd1,umask=0x08,cmask=2,inv,edge/u",
	  { "cpu/event=0xd1,umask=0x08,cmask=2,inv,edge/u cpu 4:0x28408d1 !k!h!G@task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "cpu/mem-loads,ldlat=30/upp",
	  { "cpu/mem-loads,ldlat=30/upp cpu 4:0x1cd,0x1e,0 !k!h!Gpp@task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "cpu/ldlat=30,mem-loads/",
	  { "cpu/ldlat=30,mem-loads/ cpu 4:0x1cd,0x1e,0 !G@task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "cpu/mem-loads/",
	  { "cpu/mem-loads/ cpu 4:0x1cd,0x3,0 !G@task any g0" } },
	{ __LINE__, "intel-server", "mem-stores", { "mem-stores cpu 4:0x82d0 !G@task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "cpu/config=0x3c,config1=7,config2=9,name=c/",
	  { "c cpu 4:0x3c,0x7,0x9 !G@task any g0" } },
	{ __LINE__, "intel-server", "cpu/r1a8/", { "cpu/r1a8/ cpu 4:0x1a8 !G@task any g0" } },
	{ __LINE__, "intel-server", "cpu/r0x1A8/", { "cpu/r0x1A8/ cpu 4:0x1a8 !G@task any g0" } },
	{ __LINE__, "intel-server", "cpu/cycles/", { "cpu/cycles/ cpu 0:0 !G@task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "cpu/cpu-cycles/",
	  { "cpu/cpu-cycles/ cpu 4:0x3c !G@task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "cpu/LLC-loads/",
	  { "cpu/LLC-loads/ cpu 3:0x2 !G@task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "software/cs/",
	  { "software/cs/ software 1:0x3 @task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "cycles/period=1000,name=tick/u",
	  { "tick - 0:0 !k!h!G@task any g0" } },
	{ __LINE__, "intel-server", "msr/tsc/", { "msr/tsc/ msr 21:0 @task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "{cycles,msr/tsc/}",
	  { "cycles - 0:0 !G@task any g0", "msr/tsc/ msr 21:0 @task any g0" } },
#ifdef __x86_64__ /* where the exact engine exists */
	{ __LINE__,
	  "intel-server",
	  "{exact/loads/,instructions:u}",
	  { "exact/loads/ exact 6:0x7 !k!h@task any g0",
	    "instructions:u - 0:0x1 !k!h!G@task any g0" } },
#endif
	{ __LINE__,
	  "intel-server",
	  "{msr/tsc/,cycles}",
	  { "msr/tsc/ msr 21:0 @task any g0", "cycles - 0:0 !G@task any g0" } },
	{ __LINE__,
	  "amd-zen4",
	  "cpu/event=0x5c4/",
	  { "cpu/event=0x5c4/ cpu 4:0x5000000c4 !G@task any g0" } },
	{ __LINE__,
	  "amd-zen4",
	  "cpu/ref-cycles/",
	  { "cpu/ref-cycles/ cpu 4:0x100000120 !G@task any g0" } },
	{ __LINE__,
	  "amd-zen4",
	  "amd_df/event=0x1f07,umask=0x38/",
	  { "amd_df/event=0x1f07,umask=0x38/ amd_df 11:0x1f00003807 @uncore 0 g0" } },
	{ __LINE__,
	  "amd-zen4",
	  "ibs_op/cnt_ctl=1/",
	  { "ibs_op/cnt_ctl=1/ ibs_op 9:0x80000 @task any g0" } },
	/* uncore: every instance, by its cpumask */
	{ __LINE__,
	  "intel-server",
	  "uncore_imc_1/cas_count_read/",
	  { "uncore_imc_1/cas_count_read/ uncore_imc_1 15:0xf04 @uncore 0,4 g0" } },
	{ __LINE__,
	  "intel-server",
	  "imc/cas_count_read/",
	  { "uncore_imc_0/cas_count_read/ uncore_imc_0 14:0xf04 @uncore 0,4 g0",
	    "uncore_imc_1/cas_count_read/ uncore_imc_1 15:0xf04 @uncore 0,4 g1",
	    "uncore_imc_2/cas_count_read/ uncore_imc_2 16:0xf04 @uncore 0,4 g2",
	    "uncore_imc_3/cas_count_read/ uncore_imc_3 17:0xf04 @uncore 0,4 g3" } },
	{ __LINE__,
	  "intel-server",
	  "uncore_ch*/umask=0x1ff/",
	  { "uncore_cha_0/umask=0x1ff/ uncore_cha_0 30:0x10000ff00 @uncore 0,4 g0",
	    "uncore_cha_1/umask=0x1ff/ uncore_cha_1 31:0x10000ff00 @uncore 0,4 g1" } },
	{ __LINE__,
	  "intel-server",
	  "{uncore_cha/event=1/,uncore_cha/event=2/}",
	  { "uncore_cha_0/event=1/ uncore_cha_0 30:0x1 @uncore 0,4 g0",
	    "uncore_cha_1/event=1/ uncore_cha_1 31:0x1 @uncore 0,4 g1",
	    "uncore_cha_0/event=2/ uncore_cha_0 30:0x2 @uncore 0,4 g0",
	    "uncore_cha_1/event=2/ uncore_cha_1 31:0x2 @uncore 0,4 g1" } },
	{ __LINE__, "intel-server", "energy-ram", { "energy-ram power 20:0x3 @uncore 0,4 g0" } },
	{ __LINE__,
	  "hybrid",
	  "data_read",
	  { "uncore_imc_free_running_0/data_read/ uncore_imc_free_running_0 24:0x20ff @uncore 0 g0",
	    "uncore_imc_free_running_1/data_read/ uncore_imc_free_running_1 25:0x20ff @uncore 0 "
	    "g1" } },
	/* hybrid: on every core PMU */
	{ __LINE__,
	  "hybrid",
	  "instructions:u",
	  { "cpu_core/instructions/u cpu_core 0:0x400000001 !k!h!G@core 0-3 g0",
	    "cpu_atom/instructions/u cpu_atom 0:0xa00000001 !k!h!G@core 4-7 g1" } },
	{ __LINE__,
	  "hybrid",
	  "LLC-loads",
	  { "cpu_core/LLC-loads/ cpu_core 3:0x400000002 !G@core 0-3 g0",
	    "cpu_atom/LLC-loads/ cpu_atom 3:0xa00000002 !G@core 4-7 g1" } },
	{ __LINE__,
	  "hybrid",
	  "r1a8:k",
	  { "cpu_core/r1a8/k cpu_core 4:0x1a8 !u!h!G@core 0-3 g0",
	    "cpu_atom/r1a8/k cpu_atom 10:0x1a8 !u!h!G@core 4-7 g1" } },
	{ __LINE__,
	  "hybrid",
	  "topdown-retiring",
	  { "cpu_core/topdown-retiring/ cpu_core 4:0x8000 !G@core 0-3 g0",
	    "cpu_atom/topdown-retiring/ cpu_atom 10:0xc2 !G@core 4-7 g1" } },
	{ __LINE__, "hybrid", "slots", { "slots cpu_core 4:0x400 !G@core 0-3 g0" } },
	{ __LINE__,
	  "hybrid",
	  "cpu_atom/cycles/",
	  { "cpu_atom/cycles/ cpu_atom 0:0xa00000000 !G@core 4-7 g0" } },
	{ __LINE__,
	  "hybrid",
	  "{cycles,task-clock,instructions}",
	  { "cpu_core/cycles/ cpu_core 0:0x400000000 !G@core 0-3 g0",
	    "cpu_atom/cycles/ cpu_atom 0:0xa00000000 !G@core 4-7 g1",
	    "task-clock - 1:0x1 @task any g2",
	    "cpu_core/instructions/ cpu_core 0:0x400000001 !G@core 0-3 g0",
	    "cpu_atom/instructions/ cpu_atom 0:0xa00000001 !G@core 4-7 g1" } },
	{ __LINE__,
	  "hybrid",
	  "{cpu_core/slots/,cycles},cs",
	  { "cpu_core/slots/ cpu_core 4:0x400 !G@core 0-3 g0",
	    "cpu_core/cycles/ cpu_core 0:0x400000000 !G@core 0-3 g0",
	    "cpu_atom/cycles/ cpu_atom 0:0xa00000000 !G@core 4-7 g1", "cs - 1:0x3 @task any g2" } },
	{ __LINE__,
	  "intel-server",
	  "{cycles,cpu/event=1/,task-clock,r3}",
	  { "cycles - 0:0 !G@task any g0", "cpu/event=1/ cpu 4:0x1 !G@task any g0",
	    "task-clock - 1:0x1 @task any g0", "r3 - 4:0x3 !G@task any g0" } },
	/* arm64 */
	{ __LINE__, "arm64-neoverse-n1", "cycles", { "cycles - 0:0 !G@task any g0" } },
	{ __LINE__,
	  "arm64-neoverse-n1",
	  "inst_retired:u",
	  { "inst_retired:u armv8_pmuv3_0 8:0x8 !k!h!G@task any g0" } },
	{ __LINE__,
	  "arm64-neoverse-n1",
	  "armv8_pmuv3/event=0x11,long/",
	  { "armv8_pmuv3/event=0x11,long/ armv8_pmuv3_0 8:0x11,0x1,0 !G@task any g0" } },
	{ __LINE__,
	  "arm64-neoverse-n1",
	  "arm_spe_0/load_filter=1,min_latency=10/",
	  { "arm_spe_0/load_filter=1,min_latency=10/ arm_spe_0 11:0x200000000,0,0xa @core 0-3 "
	    "g0" } },
	{ __LINE__,
	  "arm64-neoverse-n1",
	  "arm_cmn_0/hnf_cache_miss/",
	  { "arm_cmn_0/hnf_cache_miss/ arm_cmn_0 12:0x10005 @uncore 0 g0" } },
	{ __LINE__,
	  "arm64-biglittle",
	  "instructions",
	  { "armv8_cortex_a53/instructions/ armv8_cortex_a53 8:0x8 !G@core 0-3 g0",
	    "armv8_cortex_a72/instructions/ armv8_cortex_a72 9:0x8 !G@core 4-5 g1" } },
	/* tracepoints, breakpoints */
	{ __LINE__,
	  "intel-server",
	  "sched:sched_switch:u",
	  { "sched:sched_switch:u - 2:0x13e !k!h@task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "syscalls:sys_enter_openat:u",
	  { "syscalls:sys_enter_openat:u - 2:0x26f !k!h@task any g0 in user" } },
	/* Uprobes, by the kernel's list of them; a kprobe has no entry. */
	{ __LINE__,
	  "intel-server",
	  "probe_sh:main",
	  { "probe_sh:main - 2:0x709 @task any g0 in user" } },
	{ __LINE__,
	  "intel-server",
	  "probe_sh:main_extra",
	  { "probe_sh:main_extra - 2:0x70a @task any g0" } },
	{ __LINE__, "intel-server", "kprobes:main", { "kprobes:main - 2:0x70b @task any g0" } },
	{ __LINE__,
	  "intel-server",
	  "sched:sched_[sw]*,cs",
	  { "sched:sched_stat_runtime - 2:0x135 @task any g0",
	    "sched:sched_switch - 2:0x13e @task any g0",
	    "sched:sched_wakeup - 2:0x141 @task any g0", "cs - 1:0x3 @task any g1" } },
	{ __LINE__,
	  "vm-no-pmu",
	  "mem:0x1000/8:rw:u",
	  { "mem:0x1000/8:rw:u - 5:0,0x1000,0x8 !k!h@task any g0" } },
	/* clocks */
	{ __LINE__,
	  "vm-no-pmu",
	  "duration_time,user_time",
	  { "duration_time - 1:0x1 @task any g0", "user_time - 1:0x2 @task any g1" } },
	{ __LINE__,
	  "vm-no-pmu",
	  "duration_time:u,user_time:u,system_time:k",
	  { "duration_time:u - 1:0x1 !k!h@task any g0", "user_time:u - 1:0x2 !k!h@task any g1",
	    "system_time:k - 1:0x3 !u!h@task any g2" } },
	/* no core PMU */
	{ __LINE__,
	  "vm-no-pmu",
	  "cycles:u,task-clock,r1,cpu/event=1/,LLC-loads,cpu_core/x/",
	  { "cycles:u - 0:0 !k!h@task any g0 unavailable", "task-clock - 1:0x1 @task any g1",
	    "r1 - 4:0x1 @task any g2 unavailable", "cpu/event=1/ cpu 4:0 @task any g3 unavailable",
	    "LLC-loads - 3:0x2 @task any g4 unavailable",
	    "cpu_core/x/ cpu_core 4:0 @task any g5 unavailable" } },
	{ __LINE__,
	  "vm-no-pmu",
	  "sched:sched_switch",
	  { "sched:sched_switch - 2:0 @task any g0 unavailable" } },
};

TEST(encodings)
{
	trees_needed();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct encoding_list list;
		size_t n = 0;

		CHECK_EQ(encode(rows[i].tree, rows[i].text, true, &list, &err), 0,
			 "row at line %d: %s", rows[i].line, err.what);
		for (; n < ARRAY_SIZE(rows[i].drawn) && rows[i].drawn[n]; n++) {
			char drawn[400] = "";

			if (n < list.n)
				draw(&list.enc[n], drawn, sizeof(drawn));
			CHECK_STR(drawn, rows[i].drawn[n], "row at line %d", rows[i].line);
		}
		CHECK_EQ(list.n, n, "row at line %d", rows[i].line);
		encoding_list_free(&list);
	}
}

static const struct {
	int line;
	const char *tree, *text;
	int ret, at;
	const char *what, *hint; /* the complete texts */
} mistakes[] = {
	{ __LINE__, "amd-zen4", "cpu/instructions=2/", -EINVAL, 4,
	  "cpu/instructions=2/: the term instructions: is an event of the PMU and takes no value",
	  "" },
	{ __LINE__, "amd-zen4", "cpu/zzzzzzzz=1/", -EINVAL, 4,
	  "cpu has no term or event 'zzzzzzzz'",
	  "its terms: cmask, edge, event, inv, umask; and config, config1, config2, period, name" },
	{ __LINE__, "intel-server", "tracepoint/event=1/", -EINVAL, 11,
	  "tracepoint has no term or event 'event'",
	  "it takes config, config1, config2, period and name" },
	{ __LINE__, "intel-server", "cs,instrctions", -ENOENT, 3, "there is no event 'instrctions'",
	  "did you mean instructions? 'tare events WORD' searches" },
	{ __LINE__, "intel-server", "cycles:x", -EINVAL, 7, "'x' is no modifier of cycles",
	  "modifiers: u user, k kernel, h hypervisor, G guest, H host, I not idle, p to ppp "
	  "precise, P most precise, "
	  "S read in samples, D pinned, W weak group, e exclusive" },
	{ __LINE__, "intel-server", "cpu/event=0x100/", -ERANGE, 4,
	  "cpu/event=0x100/: the term event: 0x100 does not fit its 8 bits", "" },
	{ __LINE__, "intel-server", "cpu/event=x/", -EINVAL, 4,
	  "cpu/event=x/: the term event: takes a number, decimal or 0x hex", "" },
	{ __LINE__, "intel-server", "cpu/evnt=1/", -EINVAL, 4, "cpu has no term or event 'evnt'",
	  "did you mean event?" },
	{ __LINE__, "intel-server", "cpu/config/", -EINVAL, 4,
	  "cpu/config/: the term config: needs '=' and a number", "" },
	{ __LINE__, "intel-server", "cpu/period=0/", -EINVAL, 4,
	  "cpu/period=0/: the term period: needs '=' and a number above 0", "" },
	{ __LINE__, "intel-server", "cpu/call-graph=fp/", -EOPNOTSUPP, 4,
	  "cpu/call-graph=fp/: the term call-graph: is about recording, which options of the "
	  "command say here",
	  "" },
	{ __LINE__, "intel-server", "cycles/event=1/", -EINVAL, 7,
	  "cycles/event=1/: the term event: this event takes only config, config1, config2, "
	  "period, freq and name",
	  "" },
	{ __LINE__, "intel-server", "uncore_imx/x/", -ENOENT, 0,
	  "there is no PMU 'uncore_imx' on this machine",
	  "did you mean uncore_imc_0, uncore_imc_1, uncore_imc_2? 'tare events' lists all" },
	{ __LINE__, "intel-server", "cpu_core/cycles/", -ENOENT, 0,
	  "there is no PMU 'cpu_core' on this machine",
	  "its core PMUs: cpu; an event without a PMU is counted on all of them" },
	{ __LINE__, "intel-server", "uncore_imc_0/cas_count_read/u", -EINVAL, 0,
	  "uncore_imc_0/cas_count_read/u: an uncore counter cannot tell user from kernel, nor be "
	  "precise",
	  "leave the modifiers out" },
	{ __LINE__, "vm-no-pmu", "user_time:k", -EINVAL, 0,
	  "user_time:k: a clock cannot tell user from kernel, nor be precise",
	  "leave the modifiers out" },
	{ __LINE__, "intel-server", "{cycles,uncore_imc_0/clockticks/}", -EINVAL, 8,
	  "uncore_imc_0/clockticks/ cannot be in one group with cycles: they are on different PMUs "
	  "(uncore_imc_0, the core PMU)",
	  "write them outside the braces, or as groups of their own" },
#ifdef __x86_64__ /* where the exact engine exists */
	{ __LINE__, "intel-server", "{exact/loads/,cycles}", -EINVAL, 14,
	  "cycles cannot be in one group with exact/loads/: they are on different PMUs (the core PMU, exact)",
	  "write them outside the braces, or as groups of their own" },
#endif
	{ __LINE__, "hybrid", "{cpu_core/cycles/,cpu_atom/cycles/}", -EINVAL, 18,
	  "cpu_atom/cycles/ cannot be in one group with cpu_core/cycles/: they are on different "
	  "PMUs (cpu_atom, cpu_core)",
	  "write them outside the braces, or as groups of their own" },
	{ __LINE__, "intel-server", "sched:sched_swich", -ENOENT, 0,
	  "there is no tracepoint sched:sched_swich",
	  "did you mean sched_switch? 'tare events sched' lists them" },
	{ __LINE__, "intel-server", "sched:q*", -ENOENT, 0, "there is no tracepoint sched:q*",
	  "'tare events sched' lists the names with that word" },
	{ __LINE__, "vm-no-pmu", "cs,cycles", -ENOENT, 3,
	  "cycles is unavailable: this machine shows no core PMU (a virtual machine without a "
	  "virtual PMU, or a kernel without its driver)",
	  "'tare doctor' says why; task-clock, page-faults and other software events count here" },
	{ __LINE__, "vm-no-pmu", "sched:sched_switch", -ENOENT, 0,
	  "sched:sched_switch is unavailable: tracefs is not mounted on /sys/kernel/tracing, where "
	  "the number of a tracepoint is",
	  "as root: mount -t tracefs tracefs /sys/kernel/tracing" },
};

TEST(mistakes_say_what_and_what_to_do)
{
	trees_needed();
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct encoding_list list;

		CHECK_EQ(encode(mistakes[i].tree, mistakes[i].text, false, &list, &err),
			 mistakes[i].ret, "row at line %d", mistakes[i].line);
		CHECK_STR(err.what, mistakes[i].what, "row at line %d", mistakes[i].line);
		CHECK_STR(err.hint, mistakes[i].hint, "row at line %d", mistakes[i].line);
		CHECK_EQ(err.at, mistakes[i].at, "row at line %d", mistakes[i].line);
		CHECK_EQ(list.n, 0, "row at line %d", mistakes[i].line);
		encoding_list_free(&list);
	}
}

TEST(a_group_that_no_machine_could_count)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct encoding_list list;
	struct text text = { 0 };

	trees_needed();
	text_add(&text, "cs,{cycles");
	for (int i = 0; i < 256; i++)
		text_add(&text, ",r%d", i);
	text_add(&text, "}");
	CHECK_EQ(encode("hybrid", text.s, false, &list, &err), -EINVAL);
	CHECK_STR(err.what, "a group over several PMUs may have 512 counters, not 514");
	CHECK_EQ(err.at, 4);
	CHECK_EQ(encode("intel-server", text.s, false, &list, &err), 0,
		 "one PMU: the kernel says how many");
	encoding_list_free(&list);
	text_free(&text);
}

TEST(units)
{
	struct encoding_list list;

	trees_needed();
	CHECK_EQ(encode("intel-server",
			"uncore_imc_0/cas_count_read/,power/energy-pkg/,msr/cpu_thermal_margin/"
			",cycles,task-clock",
			false, &list, NULL),
		 0);
	CHECK(list.n == 5 && list.enc[0].scale == 6.103515625e-5 &&
	      list.enc[1].scale == 2.3283064365386962890625e-10);
	CHECK_STR(list.enc[0].unit, "MiB");
	CHECK_STR(list.enc[1].unit, "Joules");
	CHECK(list.enc[2].snapshot && !list.enc[0].snapshot && !list.enc[3].snapshot);
	CHECK_STR(list.enc[2].unit, "C");
	CHECK(list.enc[3].scale == 1 && !list.enc[3].unit[0]);
	CHECK_STR(list.enc[4].unit, "ns");
	CHECK(list.enc[3].source == &source_perf);
	encoding_list_free(&list);
	CHECK_EQ(encode("vm-no-pmu", "duration_time", false, &list, NULL), 0);
	CHECK(list.enc[0].source == &source_clock);
	encoding_list_free(&list);
	CHECK_EQ(
		encode("hybrid", "cycles/period=1000/,cpu_core/slots,freq=99/", false, &list, NULL),
		0);
	CHECK_EQ(list.enc[1].attr.sample_period, 1000);
	CHECK(!list.enc[1].attr.freq && list.enc[2].attr.freq);
	CHECK_EQ(list.enc[2].attr.sample_freq, 99);
	CHECK_EQ(list.enc[2].event, 1);
	encoding_list_free(&list);
}

TEST(breakpoints)
{
	static const struct {
		const char *text;
		unsigned type;
		uint64_t len;
	} kinds[] = {
		{ "mem:0x10:r", 1, 4 },
		{ "mem:0x10:w", 2, 4 },
		{ "mem:0x10/1", 3, 1 },
		{ "mem:0x10:x", 4, sizeof(long) },
	};
	struct encoding_list list;

	trees_needed();
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		CHECK_EQ(encode("vm-no-pmu", kinds[i].text, false, &list, NULL), 0, "%s",
			 kinds[i].text);
		CHECK_EQ(list.n ? list.enc[0].attr.bp_type : 0, kinds[i].type, "%s", kinds[i].text);
		CHECK_EQ(list.n ? list.enc[0].attr.bp_len : 0, kinds[i].len, "%s", kinds[i].text);
		CHECK_EQ(list.n ? list.enc[0].attr.bp_addr : 0, 0x10, "%s", kinds[i].text);
		encoding_list_free(&list);
	}
}

/* Values that no kernel would write are refused with a one-line message that names the file. */
TEST(hostile_sysfs)
{
	static const struct {
		int line;
		const char *text, *what; /* the end of the message */
		int ret;
	} hostile[] = {
		{ __LINE__, "type_negative/e/",
		  "type_negative/type: '-1' is no PMU type (a number up to 2^31-1)", -EINVAL },
		{ __LINE__, "type_huge/e/",
		  "type_huge/type: '99999999999999999999' is no PMU type (a number up to 2^31-1)",
		  -EINVAL },
		{ __LINE__, "type_31/e/",
		  "type_31/type: '2147483648' is no PMU type (a number up to 2^31-1)", -EINVAL },
		{ __LINE__, "type_word/e/",
		  "type_word/type: 'four' is no PMU type (a number up to 2^31-1)", -EINVAL },
		{ __LINE__, "type_empty/e/",
		  "type_empty/type: '' is no PMU type (a number up to 2^31-1)", -EINVAL },
		{ __LINE__, "type_space/e/",
		  "type_space/type: ' 4' is no PMU type (a number up to 2^31-1)", -EINVAL },
		{ __LINE__, "type_folder/e/", "type_folder/type: Is a directory", -EISDIR },
		{ __LINE__, "type_binary/e/",
		  "type_binary/type: its first line holds an unprintable byte", -EINVAL },
		{ __LINE__, "format_64/event=1/",
		  "format_64/format/event: 'config:0-64' is no format such as config:0-7,32-35",
		  -EINVAL },
		{ __LINE__, "format_reverse/event=1/",
		  "'config:7-0' is no format such as config:0-7,32-35", -EINVAL },
		{ __LINE__, "format_overlap/event=1/",
		  "'config:0-7,4-9' is no format such as config:0-7,32-35", -EINVAL },
		{ __LINE__, "format_field/event=1/",
		  "'config9:0-7' is no format such as config:0-7,32-35", -EINVAL },
		{ __LINE__, "format_none/event=1/",
		  "'config:' is no format such as config:0-7,32-35", -EINVAL },
		{ __LINE__, "format_word/event=1/", "'event' is no format such as config:0-7,32-35",
		  -EINVAL },
		{ __LINE__, "format_tail/event=1/",
		  "'config:0-7;x' is no format such as config:0-7,32-35", -EINVAL },
		{ __LINE__, "format_empty/event=1/", "'' is no format such as config:0-7,32-35",
		  -EINVAL },
		{ __LINE__, "format_comma/event=1/",
		  "'config:0-7,' is no format such as config:0-7,32-35", -EINVAL },
		{ __LINE__, "cpus_huge/event=1/",
		  "cpus_huge/cpumask: '0-99999999' is not a list of CPUs such as 0-3,8", -ERANGE },
		{ __LINE__, "cpus_word/event=1/", "'all' is not a list of CPUs such as 0-3,8",
		  -EINVAL },
		{ __LINE__, "cpus_reverse/event=1/", "'3-1' is not a list of CPUs such as 0-3,8",
		  -EINVAL },
		{ __LINE__, "events/event_wide/",
		  "events/events/event_wide: the term event: 0x100 does not fit its 8 bits",
		  -ERANGE },
		{ __LINE__, "events/event_slash/",
		  "'event=1/u,x/' is no list of terms: it says more", -EINVAL },
		{ __LINE__, "events/event_self/",
		  "events/events/event_self: the term event_self: the PMU has no format of that "
		  "name",
		  -EINVAL },
		{ __LINE__, "events/event_unknown/",
		  "the term colour: the PMU has no format of that name", -EINVAL },
		{ __LINE__, "events/event_brace/",
		  "'event={1}' is no list of terms: a value for event is expected, not '{'",
		  -EINVAL },
		{ __LINE__, "events/event_empty/",
		  "events/events/event_empty: '' is no list of terms: it is empty", -EINVAL },
		{ __LINE__, "events/event_long/",
		  "its first line has 2006 bytes, 1023 are expected", -ENOSPC },
		{ __LINE__, "events/event_mods/",
		  "'event=1/u' is no list of terms: ',' is expected after x/event=1/u, not '/'",
		  -EINVAL },
		{ __LINE__, "events/scale_nan/",
		  "scale_nan.scale: 'nan' is no scale (a number above 0)", -EINVAL },
		{ __LINE__, "events/scale_zero/", "'0' is no scale (a number above 0)", -EINVAL },
		{ __LINE__, "events/scale_negative/", "'-1' is no scale (a number above 0)",
		  -EINVAL },
		{ __LINE__, "events/scale_word/", "'big' is no scale (a number above 0)", -EINVAL },
		{ __LINE__, "events/scale_huge/", "'1e999' is no scale (a number above 0)",
		  -EINVAL },
		{ __LINE__, "events/scale_hex/", "'0x10' is no scale (a number above 0)", -EINVAL },
		{ __LINE__, "events/unit_long/",
		  "unit_long.unit: its first line has 40 bytes, 15 are expected", -ENOSPC },
		{ __LINE__, "events/unit_control/",
		  "unit_control.unit: its first line holds an unprintable byte", -EINVAL },
		{ __LINE__, "events/unit_escape/",
		  "unit_escape.unit: its first line holds an unprintable byte", -EINVAL },
		{ __LINE__, "events/unit_escape.unit/",
		  "events has no term or event 'unit_escape.unit'", -EINVAL },
		{ __LINE__, "big/big=1/", "big/format/big: File too large", -EFBIG },
		{ __LINE__, "caps_word/e/P", "caps_word/caps/max_precise: 'most' is no number",
		  -EINVAL },
		{ __LINE__, "caps_four/e/P",
		  "caps_four/caps/max_precise: 4 is no precise level (0 to 3)", -EINVAL },
		{ __LINE__, "sched:bad_id", "bad_id/id: '-5' is no tracepoint id", -EINVAL },
		{ __LINE__, "sched:empty_id", "empty_id/id: '' is no tracepoint id", -EINVAL },
	};

	trees_needed();
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct encoding_list list;
		size_t want = strlen(hostile[i].what), got;

		CHECK_EQ(encode("hostile", hostile[i].text, true, &list, &err), hostile[i].ret,
			 "row at line %d: %s", hostile[i].line, err.what);
		got = strlen(err.what);
		CHECK_STR(got >= want ? err.what + got - want : err.what, hostile[i].what,
			  "row at line %d", hostile[i].line);
		encoding_list_free(&list);
	}
}

TEST(which_cpu)
{
	static const struct {
		const char *tree, *cpu;
	} cpus[] = {
		{ "intel-server", "GenuineIntel-6-6A-6" },
		{ "hybrid", "GenuineIntel-6-97-2" },
		{ "amd-zen4", "AuthenticAMD-25-11-1" },
		{ "arm64-neoverse-n1", "0x00000000410fd0c0" },
		{ "arm64-biglittle", "0x00000000410fd030" },
		{ "hostile", "" },
		{ "no-such-tree", "" },
	};

	trees_needed();
	for (size_t i = 0; i < ARRAY_SIZE(cpus); i++) {
		char root[256];
		struct machine *m = machine_open(tree_root(cpus[i].tree, root), NULL);

		CHECK_STR(machine_cpu(m), cpus[i].cpu, "%s", cpus[i].tree);
		CHECK_STR(machine_cpu(m), cpus[i].cpu, "%s, again", cpus[i].tree);
		machine_close(m);
	}
}

/* Terms need the formats of their PMU: without it there is no encoding, not even 0. */
TEST(terms_of_an_absent_pmu_are_not_encoded)
{
	static const struct {
		const char *tree, *text;
		bool unencoded;
	} kept[] = {
		{ "vm-no-pmu", "cpu/event=0x1/", true },
		{ "vm-no-pmu", "armv8_pmuv3_0/event=0x1/", true },
		{ "vm-no-pmu", "r1a8", false },
		{ "vm-no-pmu", "cycles", false },
		{ "intel-server", "cpu/event=0x1/", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		struct encoding_list list;

		CHECK_EQ(encode(kept[i].tree, kept[i].text, true, &list, NULL), 0, "%s",
			 kept[i].text);
		if (CHECK(list.n == 1, "%s", kept[i].text))
			CHECK_EQ(list.enc[0].unencoded, kept[i].unencoded, "%s", kept[i].text);
		encoding_list_free(&list);
	}
}

TEST_MAIN()
