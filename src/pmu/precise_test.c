/* SPDX-License-Identifier: MIT */
/*
 * The choice for each generation of processors, from sysfs as their kernels show it, and the
 * encoded attributes. The trees are created here, as only a few files of a machine matter.
 */
#include <sys/stat.h>
#include <unistd.h>
#include "pmu/encode.h"
#include "pmu/precise.h"
#include "tap.h"

#define DEV "/sys/bus/event_source/devices/"
#define CORE(name)                                                                                 \
	{ DEV name "/type", "4" }, { DEV name "/format/event", "config:0-7" },                     \
		{ DEV name "/format/umask", "config:8-15" },                                       \
		{ DEV name "/events/branch-instructions", "event=0xc4" },                          \
		{ DEV name "/events/branch-misses", "event=0xc5" },                                \
	{                                                                                          \
		DEV name "/events/cpu-cycles", "event=0x3c"                                        \
	}
#define PEBS(name, loads, stores)                                                                  \
	CORE(name), { DEV name "/format/ldlat", "config1:0-15" },                                  \
		{ DEV name "/caps/max_precise", "3" }, { DEV name "/events/mem-loads", loads },    \
	{                                                                                          \
		DEV name "/events/mem-stores", stores                                              \
	}
#define AMD                                                                                        \
	CORE("cpu"), { DEV "cpu/caps/max_precise", "0" }, { DEV "ibs_fetch/type", "9" },           \
		{ DEV "ibs_fetch/format/rand_en", "config:57" },                                   \
	{                                                                                          \
		DEV "ibs_op/type", "10"                                                            \
	}
#define SPE                                                                                        \
	{ DEV "arm_spe_0/type", "11" }, { DEV "arm_spe_0/cpumask", "0-3" },                        \
		{ DEV "arm_spe_0/format/ts_enable", "config:0" },                                  \
		{ DEV "arm_spe_0/format/pa_enable", "config:1" },                                  \
		{ DEV "arm_spe_0/format/jitter", "config:16" },                                    \
		{ DEV "arm_spe_0/format/branch_filter", "config:32" },                             \
		{ DEV "arm_spe_0/format/load_filter", "config:33" },                               \
		{ DEV "arm_spe_0/format/store_filter", "config:34" },                              \
	{                                                                                          \
		DEV "arm_spe_0/format/min_latency", "config2:0-11"                                 \
	}
#define INTEL(model)                                                                               \
	{                                                                                          \
		"/proc/cpuinfo",                                                                   \
			"vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: " model            \
			"\nstepping\t: 1\n"                                                        \
	}
#define ZEN(family)                                                                                \
	{                                                                                          \
		"/proc/cpuinfo",                                                                   \
			"vendor_id\t: AuthenticAMD\ncpu family\t: " family                         \
			"\nmodel\t\t: 1\nstepping\t: 1\n"                                          \
	}
#define KERNEL(v)                                                                                  \
	{                                                                                          \
		"/proc/sys/kernel/osrelease", v                                                    \
	}

struct tree {
	const char *name;
	struct {
		const char *path, *text;
	} file[40];
};

static const struct tree trees[] = {
	{ "nehalem",
	  { INTEL("26"),
	    KERNEL("4.19.0"),
	    CORE("cpu"),
	    { DEV "cpu/format/ldlat", "config1:0-15" },
	    { DEV "cpu/caps/max_precise", "1" },
	    { DEV "cpu/events/mem-loads", "event=0x0b,umask=0x10,ldlat=3" } } },
	{ "haswell",
	  { INTEL("60"), KERNEL("5.10.0-28-amd64"),
	    PEBS("cpu", "event=0xcd,umask=0x1,ldlat=3", "event=0xd0,umask=0x82") } },
	{ "goldmont",
	  { INTEL("92"), KERNEL("6.1.0"), CORE("cpu"), { DEV "cpu/caps/max_precise", "2" } } },
	{ "skylake",
	  { INTEL("85"),
	    KERNEL("5.12.0"),
	    PEBS("cpu", "event=0xcd,umask=0x1,ldlat=3", "event=0xd0,umask=0x82"),
	    { DEV "cpu/format/frontend", "config1:0-23" } } },
	{ "sapphirerapids",
	  { INTEL("143"),
	    KERNEL("6.1.0"),
	    PEBS("cpu", "event=0xcd,umask=0x1,ldlat=3", "event=0xcd,umask=0x2"),
	    { DEV "cpu/format/frontend", "config1:0-23" },
	    { DEV "cpu/events/mem-loads-aux", "event=0x03,umask=0x82" } } },
	{ "alderlake",
	  { INTEL("151"),
	    KERNEL("6.6.0"),
	    PEBS("cpu_core", "event=0xcd,umask=0x1,ldlat=3", "event=0xcd,umask=0x2"),
	    { DEV "cpu_core/format/frontend", "config1:0-23" },
	    { DEV "cpu_core/cpus", "0-3" },
	    { DEV "cpu_core/events/mem-loads-aux", "event=0x03,umask=0x82" },
	    PEBS("cpu_atom", "event=0xd0,umask=0x5,ldlat=3", "event=0xd0,umask=0x6"),
	    { DEV "cpu_atom/cpus", "4-7" } } },
	{ "intel-guest",
	  { { "/proc/cpuinfo",
	      "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nflags\t\t: fpu hypervisor sse\n" },
	    KERNEL("6.1.0"),
	    CORE("cpu"),
	    { DEV "cpu/caps/max_precise", "0" } } },
	{ "bulldozer", { ZEN("21"), KERNEL("6.2.0"), AMD } },
	{ "zen2-old",
	  { ZEN("23"),
	    KERNEL("6.1.0-25-amd64"),
	    AMD,
	    { DEV "ibs_op/format/cnt_ctl", "config:19" } } },
	{ "zen3",
	  { ZEN("25"), KERNEL("6.2.0"), AMD, { DEV "ibs_op/format/cnt_ctl", "config:19" } } },
	{ "zen4",
	  { ZEN("25"),
	    KERNEL("6.8.0"),
	    AMD,
	    { DEV "ibs_op/format/cnt_ctl", "config:19" },
	    { DEV "ibs_op/format/l3missonly", "config:16" },
	    { DEV "ibs_fetch/format/l3missonly", "config:59" } } },
	{ "zen5",
	  { ZEN("26"),
	    KERNEL("6.14.0"),
	    AMD,
	    { DEV "ibs_op/format/cnt_ctl", "config:19" },
	    { DEV "ibs_op/format/l3missonly", "config:16" },
	    { DEV "ibs_op/format/ldlat", "config1:0-11" } } },
	{ "after-zen5",
	  { ZEN("27"),
	    KERNEL("7.1.0"),
	    AMD,
	    { DEV "ibs_op/format/cnt_ctl", "config:19" },
	    { DEV "ibs_op/format/l3missonly", "config:16" },
	    { DEV "ibs_op/format/ldlat", "config1:0-11" } } },
	{ "amd-guest",
	  { { "/proc/cpuinfo",
	      "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\nflags\t\t: fpu hypervisor sse\n" },
	    KERNEL("6.8.0"),
	    { DEV "software/type", "1" } } },
	{ "neoverse",
	  { { "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x00000000410fd0c0" },
	    KERNEL("6.1.0"),
	    SPE,
	    { DEV "arm_spe_0/caps/min_interval", "1024" } } },
	{ "slow-spe",
	  { { "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x00000000410fd0c0" },
	    KERNEL("6.1.0"),
	    SPE,
	    { DEV "arm_spe_0/caps/min_interval", "16384" } } },
	{ "old-spe",
	  { { "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x00000000410fd0c0" },
	    KERNEL("4.19.0"),
	    { DEV "arm_spe_0/type", "11" },
	    { DEV "arm_spe_0/format/ts_enable", "config:0" },
	    { DEV "arm_spe_0/format/load_filter", "config:33" },
	    { DEV "arm_spe_0/format/store_filter", "config:34" },
	    { DEV "arm_spe_0/caps/min_interval", "1024" } } },
	{ "big-little",
	  { { "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x00000000410fd0c0" },
	    KERNEL("6.1.0"),
	    SPE,
	    { DEV "arm_spe_0/caps/min_interval", "1024" },
	    { DEV "arm_spe_1/type", "12" },
	    { DEV "arm_spe_1/cpumask", "4-7" } } },
	{ "arm-without",
	  { { "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x00000000410fd030" },
	    KERNEL("6.1.0"),
	    { DEV "software/type", "1" } } },
};

static char root[] = "/tmp/precise-test-XXXXXX";

static void put_file(const char *path, const char *text)
{
	char full[400];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	f = fopen(full, "we");
	CHECK(f != NULL, "%s", full);
	CHECK(fputs(text, f) >= 0, "%s", full);
	CHECK_EQ(fclose(f), 0, "%s", full);
}

static struct machine *make(const char *name)
{
	memcpy(root + strlen(root) - 6, "XXXXXX", 6);
	CHECK(mkdtemp(root) != NULL, "a folder");
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++)
		for (size_t k = 0; !strcmp(trees[i].name, name) && trees[i].file[k].path; k++)
			put_file(trees[i].file[k].path, trees[i].file[k].text);
	return machine_open(root, NULL);
}

static void gone(struct machine *m)
{
	char command[80];

	machine_close(m);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	CHECK_EQ(system(command), 0);
}

static const struct {
	int line;
	const char *tree;
	struct precise_question q;
	const char *events, *why;
} rows[] = {
	{ __LINE__,
	  "nehalem",
	  { PRECISE_MEMORY },
	  "cpu/mem-loads,ldlat=3/P",
	  "PEBS: loads of any latency" },
	{ __LINE__,
	  "haswell",
	  { PRECISE_MEMORY },
	  "cpu/mem-loads,ldlat=3/P,cpu/mem-stores/P",
	  "PEBS: loads of any latency, and stores" },
	{ __LINE__,
	  "haswell",
	  { PRECISE_MEMORY, .min_latency = 2 },
	  "cpu/mem-loads,ldlat=3/P,cpu/mem-stores/P",
	  "any latency" },
	{ __LINE__,
	  "haswell",
	  { PRECISE_MEMORY, .min_latency = 64 },
	  "cpu/mem-loads,ldlat=64/P,cpu/mem-stores/P",
	  "at least that latency" },
	{ __LINE__,
	  "haswell",
	  { PRECISE_MEMORY, .min_latency = 70000 },
	  NULL,
	  "up to 65535 cycles" },
	{ __LINE__,
	  "haswell",
	  { PRECISE_BRANCHES },
	  "cpu/branch-instructions/P,cpu/branch-misses/P",
	  "PEBS: branches" },
	{ __LINE__,
	  "haswell",
	  { PRECISE_FETCH },
	  NULL,
	  "--precise=fetch: this processor's PEBS cannot" },
	{ __LINE__,
	  "goldmont",
	  { PRECISE_BRANCHES },
	  "cpu/branch-instructions/P,cpu/branch-misses/P",
	  "PEBS: branches" },
	{ __LINE__, "goldmont", { PRECISE_MEMORY }, NULL, "does not show Intel's PEBS" },
	{ __LINE__,
	  "skylake",
	  { PRECISE_FETCH },
	  "cpu/event=0xc6,umask=0x1,frontend=0x12/P",
	  "PEBS: instructions whose bytes" },
	{ __LINE__,
	  "skylake",
	  { PRECISE_ALL },
	  "cpu/mem-loads,ldlat=3/P,cpu/mem-stores/P,cpu/branch-instructions/P,cpu/branch-misses/P",
	  "; branches" },
	{ __LINE__,
	  "sapphirerapids",
	  { PRECISE_MEMORY },
	  "{cpu/mem-loads-aux/,cpu/mem-loads,ldlat=3/P},cpu/mem-stores/P",
	  "PEBS" },
	{ __LINE__,
	  "alderlake",
	  { PRECISE_MEMORY },
	  "cpu_atom/mem-loads,ldlat=3/P,cpu_atom/mem-stores/P,{cpu_core/mem-loads-aux/,cpu_core/mem-loads,ldlat=3/P},cpu_core/mem-stores/P",
	  "PEBS" },
	{ __LINE__,
	  "alderlake",
	  { PRECISE_FETCH },
	  "cpu_core/event=0xc6,umask=0x1,frontend=0x12/P",
	  "PEBS" },
	{ __LINE__,
	  "intel-guest",
	  { PRECISE_MEMORY },
	  NULL,
	  "this virtual machine does not show Intel's PEBS" },
	{ __LINE__, "bulldozer", { PRECISE_MEMORY }, "ibs_op//", "by cycles" },
	{ __LINE__,
	  "zen2-old",
	  { PRECISE_MEMORY },
	  NULL,
	  "IBS follows a task from Linux 6.2 on; this is 6.1" },
	{ __LINE__,
	  "zen2-old",
	  { PRECISE_MEMORY, .all_cpus = true },
	  "ibs_op/cnt_ctl=1/",
	  "IBS: micro-operations" },
	{ __LINE__, "zen3", { PRECISE_MEMORY }, "ibs_op/cnt_ctl=1/", "IBS: micro-operations" },
	{ __LINE__, "zen3", { PRECISE_BRANCHES }, "ibs_op/cnt_ctl=1/", "IBS: micro-operations" },
	{ __LINE__, "zen3", { PRECISE_FETCH }, "ibs_fetch/rand_en=1/", "IBS: fetches" },
	{ __LINE__,
	  "zen3",
	  { PRECISE_MEMORY, .min_latency = 128 },
	  NULL,
	  "cannot leave out fast loads" },
	{ __LINE__, "zen4", { PRECISE_ALL }, "ibs_op/cnt_ctl=1/", "IBS: micro-operations" },
	{ __LINE__,
	  "zen4",
	  { PRECISE_MEMORY, .min_latency = 128 },
	  NULL,
	  "cannot leave out fast loads" },
	{ __LINE__,
	  "zen5",
	  { PRECISE_MEMORY, .min_latency = 128 },
	  "ibs_op/cnt_ctl=1,ldlat=128/",
	  "IBS: loads that missed L3 and took longer" },
	{ __LINE__,
	  "zen5",
	  { PRECISE_MEMORY, .min_latency = 2048 },
	  "ibs_op/cnt_ctl=1,ldlat=2048/",
	  "IBS: loads that missed L3" },
	{ __LINE__, "zen5", { PRECISE_ALL, .min_latency = 128 }, NULL, "samples only loads" },
	{ __LINE__,
	  "zen5",
	  { PRECISE_MEMORY, .min_latency = 127 },
	  NULL,
	  "a least latency of 128 to 2048 cycles" },
	{ __LINE__,
	  "zen5",
	  { PRECISE_MEMORY, .min_latency = 2049 },
	  NULL,
	  "a least latency of 128 to 2048 cycles" },
	{ __LINE__, "zen5", { PRECISE_MEMORY }, "ibs_op/cnt_ctl=1/", "IBS: micro-operations" },
	{ __LINE__,
	  "after-zen5",
	  { PRECISE_MEMORY, .min_latency = 128 },
	  "ibs_op/cnt_ctl=1,ldlat=128/",
	  "IBS: loads that took longer" },
	{ __LINE__,
	  "amd-guest",
	  { PRECISE_MEMORY },
	  NULL,
	  "this virtual machine does not show AMD's IBS" },
	{ __LINE__,
	  "neoverse",
	  { PRECISE_MEMORY },
	  "arm_spe_0/ts_enable=1,pa_enable=1,jitter=1,load_filter=1,store_filter=1/",
	  "SPE: loads and stores" },
	{ __LINE__,
	  "neoverse",
	  { PRECISE_MEMORY, .no_physical = true },
	  "arm_spe_0/ts_enable=1,jitter=1,load_filter=1,store_filter=1/",
	  "SPE: loads and stores" },
	{ __LINE__,
	  "old-spe",
	  { PRECISE_MEMORY },
	  "arm_spe_0/ts_enable=1,load_filter=1,store_filter=1/",
	  "SPE: loads and stores" },
	{ __LINE__,
	  "neoverse",
	  { PRECISE_MEMORY, .min_latency = 30 },
	  "arm_spe_0/ts_enable=1,pa_enable=1,jitter=1,load_filter=1,store_filter=1,min_latency=30/",
	  "SPE: loads and stores" },
	{ __LINE__,
	  "neoverse",
	  { PRECISE_MEMORY, .min_latency = 4096 },
	  NULL,
	  "up to 4095 cycles" },
	{ __LINE__,
	  "neoverse",
	  { PRECISE_BRANCHES },
	  "arm_spe_0/ts_enable=1,jitter=1,branch_filter=1/",
	  "SPE: branches" },
	{ __LINE__,
	  "neoverse",
	  { PRECISE_ALL },
	  "arm_spe_0/ts_enable=1,pa_enable=1,jitter=1/",
	  "SPE: operations of every kind" },
	{ __LINE__, "neoverse", { PRECISE_FETCH }, NULL, "no fetches" },
	{ __LINE__,
	  "big-little",
	  { PRECISE_BRANCHES },
	  "arm_spe_0/ts_enable=1,jitter=1,branch_filter=1/",
	  "SPE: branches; nothing on CPUs 4-7, which -e arm_spe_1// samples" },
	{ __LINE__,
	  "arm-without",
	  { PRECISE_MEMORY },
	  NULL,
	  "this machine's kernel does not show Arm's SPE" },
};

TEST(precise_of_each_generation)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct machine *m = make(rows[i].tree);
		struct tare_error err = TARE_ERROR_INIT;
		struct precise_choice c;
		int ret = precise_choose(m, &rows[i].q, &c, &err);

		if (rows[i].events) {
			CHECK_EQ(ret, 0, "row at line %d: %s", rows[i].line, err.what);
			CHECK(!strcmp(c.events, rows[i].events), "row at line %d: %s", rows[i].line,
			      c.events);
			CHECK(strstr(c.why, rows[i].why), "row at line %d: %s", rows[i].line,
			      c.why);
		} else {
			CHECK(ret == -ENOTSUP || ret == -ERANGE, "row at line %d: %d, %s",
			      rows[i].line, ret, c.events);
			CHECK(strstr(err.what, rows[i].why), "row at line %d: %s", rows[i].line,
			      err.what);
		}
		gone(m);
	}
}

/* Contents of the samples, and how they are requested. */
TEST(precise_how)
{
	static const struct {
		int line;
		const char *tree;
		enum precise_what what;
		uint64_t period, multiple, least;
		bool registers, weights, aux, physical;
	} how[] = {
		{ __LINE__, "haswell", PRECISE_MEMORY, 0, 1, 0, false, false, false,
		  false }, /* Linux 5.10 */
		{ __LINE__, "skylake", PRECISE_MEMORY, 0, 1, 0, false, true, false, false },
		{ __LINE__, "skylake", PRECISE_BRANCHES, 0, 1, 0, false, false, false, false },
		{ __LINE__, "zen4", PRECISE_MEMORY, 0, 16, 0, true, false, false, false },
		{ __LINE__, "zen4", PRECISE_FETCH, 0, 16, 0, true, false, false, false },
		{ __LINE__, "neoverse", PRECISE_MEMORY, 4096, 256, 1024, false, false, true, true },
		{ __LINE__, "neoverse", PRECISE_BRANCHES, 4096, 256, 1024, false, false, true,
		  false },
		{ __LINE__, "old-spe", PRECISE_ALL, 4096, 256, 1024, false, false, true, false },
		{ __LINE__, "slow-spe", PRECISE_MEMORY, 16384, 256, 16384, false, false, true,
		  true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(how); i++) {
		const struct precise_question q = { how[i].what };
		struct machine *m = make(how[i].tree);
		struct precise_choice c;

		CHECK_EQ(precise_choose(m, &q, &c, NULL), 0, "row at line %d", how[i].line);
		CHECK_EQ(c.period, how[i].period, "row at line %d", how[i].line);
		CHECK_EQ(c.multiple, how[i].multiple, "row at line %d", how[i].line);
		CHECK_EQ(c.least, how[i].least, "row at line %d", how[i].line);
		CHECK_EQ(c.registers, how[i].registers, "row at line %d", how[i].line);
		CHECK_EQ(c.weights, how[i].weights, "row at line %d", how[i].line);
		CHECK_EQ(c.physical, how[i].physical, "row at line %d", how[i].line);
		CHECK_EQ(c.aux, how[i].aux, "row at line %d", how[i].line);
		CHECK_EQ(!!c.refused[0], how[i].registers, "row at line %d: %s", how[i].line,
			 c.refused);
		gone(m);
	}
}

/* The attributes: PMU, numbers, precision, group. */
TEST(precise_encoded)
{
	static const struct {
		int line;
		const char *tree;
		struct precise_question q;
		const char *drawn;
	} drawn[] = {
		{ __LINE__, "nehalem", { PRECISE_MEMORY }, "cpu 4:0x100b,0x3,0 p1 g0" },
		{ __LINE__,
		  "haswell",
		  { PRECISE_MEMORY },
		  "cpu 4:0x1cd,0x3,0 p3 g0; cpu 4:0x82d0,0,0 p3 g1" },
		{ __LINE__,
		  "haswell",
		  { PRECISE_MEMORY, .min_latency = 64 },
		  "cpu 4:0x1cd,0x40,0 p3 g0; cpu 4:0x82d0,0,0 p3 g1" },
		{ __LINE__,
		  "skylake",
		  { PRECISE_BRANCHES },
		  "cpu 4:0xc4,0,0 p3 g0; cpu 4:0xc5,0,0 p3 g1" },
		{ __LINE__, "skylake", { PRECISE_FETCH }, "cpu 4:0x1c6,0x12,0 p3 g0" },
		{ __LINE__,
		  "sapphirerapids",
		  { PRECISE_MEMORY },
		  "cpu 4:0x8203,0,0 p0 g0; cpu 4:0x1cd,0x3,0 p3 g0; cpu 4:0x2cd,0,0 p3 g1" },
		{ __LINE__,
		  "alderlake",
		  { PRECISE_MEMORY },
		  "cpu_atom 4:0x5d0,0x3,0 p3 g0; cpu_atom 4:0x6d0,0,0 p3 g1; "
		  "cpu_core 4:0x8203,0,0 p0 g2; cpu_core 4:0x1cd,0x3,0 p3 g2; cpu_core 4:0x2cd,0,0 p3 g3" },
		{ __LINE__, "zen3", { PRECISE_MEMORY }, "ibs_op 10:0x80000,0,0 p0 g0" },
		{ __LINE__,
		  "zen5",
		  { PRECISE_MEMORY, .min_latency = 128 },
		  "ibs_op 10:0x80000,0x80,0 p0 g0" },
		{ __LINE__, "zen3", { PRECISE_FETCH }, "ibs_fetch 9:0x200000000000000,0,0 p0 g0" },
		{ __LINE__, "bulldozer", { PRECISE_MEMORY }, "ibs_op 10:0,0,0 p0 g0" },
		{ __LINE__,
		  "neoverse",
		  { PRECISE_MEMORY, .min_latency = 30 },
		  "arm_spe_0 11:0x600010003,0,0x1e p0 g0" },
		{ __LINE__,
		  "neoverse",
		  { PRECISE_BRANCHES },
		  "arm_spe_0 11:0x100010001,0,0 p0 g0" },
		{ __LINE__,
		  "neoverse",
		  { PRECISE_ALL, .no_physical = true },
		  "arm_spe_0 11:0x10001,0,0 p0 g0" },
		{ __LINE__, "neoverse", { PRECISE_ALL }, "arm_spe_0 11:0x10003,0,0 p0 g0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(drawn); i++) {
		struct machine *m = make(drawn[i].tree);
		struct tare_error err = TARE_ERROR_INIT;
		struct encode_options how = { 0 };
		struct encoding_list list = { 0 };
		struct event_list events = { 0 };
		struct precise_choice c;
		struct text got = { 0 };

		CHECK_EQ(precise_choose(m, &drawn[i].q, &c, &err), 0, "row at line %d: %s",
			 drawn[i].line, err.what);
		CHECK_EQ(event_list_parse(c.events, &events, &err), 0, "row at line %d: %s",
			 drawn[i].line, err.what);
		CHECK_EQ(pmu_encode(m, &events, &how, &list, &err), 0, "row at line %d: %s",
			 drawn[i].line, err.what);
		for (size_t k = 0; k < list.n; k++) {
			const struct perf_event_attr *a = &list.enc[k].attr;

			text_add(&got, "%s%s %u:%#llx,%#llx,%#llx p%u g%u", k ? "; " : "",
				 list.enc[k].pmu, a->type, (unsigned long long)a->config,
				 (unsigned long long)a->config1, (unsigned long long)a->config2,
				 (unsigned)a->precise_ip, list.enc[k].group);
			/* IBS and SPE of old kernels refuse every exclusion. */
			if (!strncmp(list.enc[k].pmu, "ibs", 3) ||
			    !strncmp(list.enc[k].pmu, "arm_spe", 7))
				CHECK(!a->exclude_guest && !a->exclude_host && !a->exclude_kernel &&
					      !a->exclude_user,
				      "row at line %d", drawn[i].line);
		}
		CHECK(got.s && !strcmp(got.s, drawn[i].drawn), "row at line %d: %s", drawn[i].line,
		      got.s);
		text_free(&got);
		encoding_list_free(&list);
		event_list_free(&events);
		gone(m);
	}
}

TEST(precise_by_the_exact_engine)
{
	static const struct {
		int line;
		struct precise_question q;
		const char *events, *why;
	} exact[] = {
		{ __LINE__, { PRECISE_MEMORY }, "exact/accesses/", NULL },
		{ __LINE__, { PRECISE_BRANCHES }, "exact/branches/", NULL },
		{ __LINE__, { PRECISE_FETCH }, NULL, "no fetches" },
		{ __LINE__, { PRECISE_ALL }, NULL, "one kind of event at a time" },
		{ __LINE__, { PRECISE_MEMORY, .min_latency = 5 }, NULL, "knows no latencies" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(exact); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct precise_choice c;

		CHECK_EQ(precise_exact(&exact[i].q, &c, &err), exact[i].events ? 0 : -ENOTSUP,
			 "row at line %d", exact[i].line);
		CHECK(exact[i].events ? !strcmp(c.events, exact[i].events)
				      : !!strstr(err.what, exact[i].why),
		      "row at line %d: %s", exact[i].line, err.what);
	}
}

TEST_MAIN()
