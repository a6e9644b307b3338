/* SPDX-License-Identifier: MIT */
#include "pmu/fit.h"
#include "pmu/machine.h"
#include "pmu/trees.h"
#include "tap.h"

/*
 * Encode a list on a tree and report the event that does not fit: its text, "" if all fit, or why
 * it is unknown.
 */
static void blocker(const char *tree, const char *text, char *out, size_t room)
{
	struct encode_options opt = { .keep_unavailable = true };
	struct tare_error err = TARE_ERROR_INIT;
	struct event_list events = { 0 };
	struct encoding_list list = { 0 };
	char root[256];
	struct machine *m = machine_open(tree_root(tree, root), NULL);
	const struct encoding *enc[64];
	size_t at = 0;
	int ret = event_list_parse(text, &events, &err);

	if (ret == 0)
		ret = pmu_encode(m, &events, &opt, &list, &err);
	for (size_t i = 0; i < list.n && i < ARRAY_SIZE(enc); i++)
		enc[i] = &list.enc[i];
	if (ret == 0)
		ret = fit_on(m, enc, list.n, &at, &err);
	snprintf(out, room, "%s", ret < 0 ? err.what : ret == 1 ? "" : enc[at]->name);
	machine_close(m);
	encoding_list_free(&list);
	event_list_free(&events);
}

TEST(what_fits)
{
	static const struct {
		int line;
		const char *tree, *text, *blocker;
	} rows[] = {
		/*
		 * 8 programmable, 4 fixed; the watchdog uses fixed cycles; 0x03 to 0x0a are
		 * restricted to counters 0 to 3
		 */
		{ __LINE__, "intel-server", "r3,r4,r5,r6,rc4", "" },
		{ __LINE__, "intel-server", "r3,r4,r5,r6,rc4,r7", "r7" },
		{ __LINE__, "intel-server", "rc1,rc2,rc3,rc4,rc5,rc6,rc7,rc8", "" },
		{ __LINE__, "intel-server", "rc1,rc2,rc3,rc4,rc5,rc6,rc7,rc8,rc9", "rc9" },
		{ __LINE__, "intel-server",
		  "rc1,rc2,rc3,rc4,rc5,rc6,rc7,rc8,instructions,ref-cycles,slots", "" },
		{ __LINE__, "intel-server", "rc1,rc2,rc3,rc4,rc5,rc6,rc7,rc8,instructions,cycles",
		  "cycles" },
		{ __LINE__, "intel-server", "cycles,rc1,rc2,rc3,rc4,rc5,rc6,rc7,instructions", "" },
		{ __LINE__, "intel-server", "cycles,rc1,rc2,rc3,rc4,rc5,rc6,rc7,rc8", "rc8" },
		{ __LINE__, "intel-server", "instructions,cpu/event=0xc0/,instructions", "" },
		{ __LINE__, "intel-server",
		  "rc1,rc2,rc3,rc4,rc5,rc6,rc7,rc8,cpu/event=0xc0,cmask=1/",
		  "cpu/event=0xc0,cmask=1/" },
		{ __LINE__, "intel-server", "ref-cycles,ref-cycles", "ref-cycles" },
		{ __LINE__, "intel-server", "slots,slots", "slots" },
		{ __LINE__, "intel-server",
		  "slots,topdown-retiring,topdown-be-bound,topdown-fe-bound,topdown-bad-spec", "" },
		{ __LINE__, "intel-server",
		  "rc1,rc2,rc3,rc4,rc5,rc6,rc7,rc8,task-clock,sched:sched_switch,mem:0x10,imc/"
		  "clockticks/"
		  ",msr/tsc/,duration_time",
		  "" },
		{ __LINE__, "intel-server",
		  "LLC-loads,LLC-stores,dTLB-loads,dTLB-stores,cache-misses,cache-references,"
		  "branches,branch-misses,L1-dcache-loads",
		  "L1-dcache-loads" },
		{ __LINE__, "intel-server",
		  "rc1,rc2,rc3,rc4,rc5,rc6,rc7,rc8,slots,topdown-retiring,topdown-be-bound", "" },
		{ __LINE__, "intel-server", "cpu/event=0,umask=3/,ref-cycles", "ref-cycles" },
		{ __LINE__, "intel-server", "rc1,rc2,rc3,rc4,rc5,rc6,rc7,rc8,cpu/event=0,umask=3/",
		  "" },
		{ __LINE__, "intel-server",
		  "rc1,rc2,rc3,rc4,rc5,rc6,rc7,rc8,cpu/event=0,umask=0x7f/",
		  "cpu/event=0,umask=0x7f/" },
		/* P cores: 8 and 4; E cores: 6 and 3; no watchdog */
		{ __LINE__, "hybrid", "rc1,rc2,rc3,rc4,rc5,rc6", "" },
		{ __LINE__, "hybrid", "rc1,rc2,rc3,rc4,rc5,rc6,rc7", "cpu_atom/rc7/" },
		{ __LINE__, "hybrid", "cycles,instructions,ref-cycles,rc1,rc2,rc3,rc4,rc5,rc6",
		  "" },
		{ __LINE__, "hybrid",
		  "cpu_core/rc1/,cpu_core/rc2/,cpu_core/rc3/,cpu_core/rc4/,cpu_core/rc5/,cpu_core/"
		  "rc6/"
		  ",cpu_core/rc7/,cpu_core/rc8/",
		  "" },
		/* 6 and none; the watchdog uses one of them */
		{ __LINE__, "amd-zen4", "cycles,instructions,r1,r2,r3", "" },
		{ __LINE__, "amd-zen4", "cycles,instructions,r1,r2,r3,r4", "r4" },
		{ __LINE__, "amd-zen4",
		  "cycles,instructions,r1,r2,r3,amd_l3/event=1/,amd_df/event=1/", "" },
		/* 6 and the cycle counter */
		{ __LINE__, "arm64-neoverse-n1", "cycles,r1,r2,r3,r4,r5,r6", "" },
		{ __LINE__, "arm64-neoverse-n1", "r1,r2,r3,r4,r5,r6,cpu_cycles", "" },
		{ __LINE__, "arm64-neoverse-n1", "instructions,r1,r2,r3,r4,r5,r6", "r6" },
		{ __LINE__, "arm64-biglittle", "instructions,r1,r2,r3,r4,r5,r6",
		  "armv8_cortex_a53/r6/" },
		{ __LINE__, "arm64-biglittle", "cycles,r1,r2,r3,r4,r5,r6", "" },
		{ __LINE__, "vm-no-pmu", "task-clock,cycles", "" },
	};

	trees_needed();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char out[400];

		blocker(rows[i].tree, rows[i].text, out, sizeof(out));
		CHECK_STR(out, rows[i].blocker, "row at line %d", rows[i].line);
	}
}

/* Legal counters from a vendor file; only reassigning earlier events makes room. */
/* As many as there are bits, and one more. */
TEST(every_counter_taken)
{
	struct counter_facts facts = { .kind = COUNTERS_INTEL, .programmable = 32, .fixed = 32 };
	static struct encoding enc[66];
	const struct encoding *list[66];

	for (size_t i = 0; i < ARRAY_SIZE(enc); i++) {
		enc[i] = (struct encoding){ .source = &source_perf,
					    .attr.type = PERF_TYPE_RAW,
					    .counters = UINT64_MAX };
		list[i] = &enc[i];
	}
	CHECK_EQ(fit_check(&facts, "", list, 66), 64);
	facts.watchdog = true;
	CHECK_EQ(fit_check(&facts, "", list, 66), 63);
}

TEST(constraints)
{
	static const struct {
		int line;
		uint64_t counters[6];
		size_t blocker;
	} rows[] = {
		{ __LINE__, { 0xf, 0x1, 0x2, 0x4 }, 4 },
		{ __LINE__, { 0x3, 0x3, 0x3 }, 2 },
		{ __LINE__, { 0x3, 0x5, 0x1, 0x8 }, 4 },
		{ __LINE__, { 0x3, 0x5, 0x1, 0x6 }, 3 },
		{ __LINE__, { 0x1, 0x100000000, 0x100000001 }, 2 },
	};
	struct counter_facts facts = { .kind = COUNTERS_INTEL, .programmable = 4, .fixed = 3 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct encoding enc[6] = { 0 };
		const struct encoding *list[6];
		size_t n = 0;

		for (; n < 6 && rows[i].counters[n]; n++) {
			enc[n].source = &source_perf;
			enc[n].attr.type = PERF_TYPE_RAW;
			enc[n].counters = rows[i].counters[n];
			list[n] = &enc[n];
		}
		CHECK_EQ(fit_check(&facts, "", list, n), rows[i].blocker, "row at line %d",
			 rows[i].line);
	}
}

TEST(facts)
{
	static const struct {
		const char *tree, *pmu, *cpu;
		unsigned programmable, fixed;
		bool watchdog;
	} rows[] = {
		{ "intel-server", "", "Intel Ice Lake server", 8, 4, true },
		{ "hybrid", "cpu_core", "Intel Alder Lake cpu_core", 8, 4, false },
		{ "hybrid", "cpu_atom", "Intel Alder Lake cpu_atom", 6, 3, false },
		{ "amd-zen4", "", "AMD Zen 4", 6, 0, true },
		{ "arm64-neoverse-n1", "", "Arm Neoverse N1", 6, 1, false },
		{ "arm64-biglittle", "armv8_cortex_a53", "Arm Cortex-A53", 6, 1, false },
		{ "arm64-biglittle", "armv8_cortex_a72", "Arm Cortex-A72", 6, 1, false },
	};

	trees_needed();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char root[256];
		struct machine *m = machine_open(tree_root(rows[i].tree, root), NULL);
		struct counter_facts f;

		CHECK_EQ(counter_facts_of(m, rows[i].pmu, &f, NULL), 0, "%s %s", rows[i].tree,
			 rows[i].pmu);
		CHECK_STR(f.cpu, rows[i].cpu, "%s %s", rows[i].tree, rows[i].pmu);
		CHECK_EQ(f.programmable, rows[i].programmable, "%s %s", rows[i].tree, rows[i].pmu);
		CHECK_EQ(f.fixed, rows[i].fixed, "%s %s", rows[i].tree, rows[i].pmu);
		CHECK_EQ(f.watchdog, rows[i].watchdog, "%s %s", rows[i].tree, rows[i].pmu);
		machine_close(m);
	}
}

TEST(cpu_rows)
{
	static const struct {
		const char *cpu, *name;
	} ids[] = {
		{ "GenuineIntel-6-55-4", "Intel Skylake server" },
		{ "GenuineIntel-6-55-7", "Intel Cascade Lake, Cooper Lake" },
		{ "GenuineIntel-6-4E-3", "Intel Skylake" },
		{ "AuthenticAMD-23-8-2", "AMD Zen, Zen+" },
		{ "AuthenticAMD-23-1-2", "AMD Zen, Zen+" },
		{ "AuthenticAMD-23-31-0", "AMD Zen 2" },
		{ "AuthenticAMD-25-21-0", "AMD Zen 3" },
		{ "AuthenticAMD-25-1-1", "AMD Zen 3" },
		{ "AuthenticAMD-25-61-2", "AMD Zen 4" },
		{ "AuthenticAMD-26-44-0", "AMD Zen 5" },
	};
	struct cpu_row row;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		CHECK(cpu_row_find(ids[i].cpu, NULL, &row), "%s", ids[i].cpu);
		CHECK_STR(row.name, ids[i].name, "%s", ids[i].cpu);
	}
	CHECK(!cpu_row_find("GenuineIntel-6-FF-0", NULL, &row));
	CHECK(!cpu_row_find("", NULL, &row));
	CHECK(cpu_row_by_model("skl", &row) && !strcmp(row.name, "Intel Skylake"));
	CHECK(cpu_row_by_model("zen 3", &row) && !strcmp(row.name, "AMD Zen 3"));
	CHECK(cpu_row_by_model("zen3", &row) && !strcmp(row.name, "AMD Zen 3"));
	CHECK(cpu_row_by_model("Zen4", &row) && !strcmp(row.name, "AMD Zen 4"));
	CHECK(cpu_row_by_model("sapphirerapids", &row) && !strcmp(row.libpfm, "spr"));
	CHECK(!cpu_row_by_model("zen33", &row) && !cpu_row_by_model("e3", &row));
	CHECK(cpu_row_by_model("Neoverse N1", &row) && !strcmp(row.libpfm, "arm_n1"));
	CHECK(!cpu_row_by_model("-", &row) && !cpu_row_by_model("", &row));
	for (; cpu_row_nth(n, &row); n++)
		CHECK(row.programmable && row.programmable <= row.programmable_alone && row.name[0],
		      "%s", row.cpu);
	CHECK(n > 50);
	cpu_row_find("GenuineIntel-6-5E-3", "cpu", &row);
	CHECK_EQ(row.programmable, 4);
	CHECK_EQ(row.programmable_alone, 8);
}

TEST_MAIN()
