/* SPDX-License-Identifier: MIT */
/* Plans compared with the values in the manuals, and in programs written according to them. */
#include <stdio.h>
#include "msr/plan.h"
#include "tap.h"

static struct msr_cpu cpu_of(const char *bound, const char *libpfm, const char *name,
			     unsigned programmable, unsigned fixed)
{
	struct msr_cpu cpu = { 0 };

	CHECK_EQ(msr_cpu_of(&cpu, bound, libpfm, name, programmable, fixed, NULL), 0, "%s", name);
	return cpu;
}

static struct msr_cpu skylake(void)
{
	return cpu_of("skl", "skl", "Intel Skylake", 4, 3);
}

static struct msr_cpu zen3(void)
{
	return cpu_of("amd17h", "amd64_fam19h_zen3", "AMD Zen 3", 6, 0);
}

#define USER(config_)                                                                              \
	{                                                                                          \
		.name = #config_, .config = (config_), .user = true                                \
	}

/* The seven counters of one CPU, all in user mode. */
static const struct msr_event seven[] = { USER(0xc0),  USER(0x3c),   USER(0x300), USER(0xc5),
					  USER(0x1c2), USER(0x81d0), USER(0x82d0) };

static struct tare_error err;

static struct msr_plan plan_on(const struct msr_cpu *cpu, const struct msr_event *ev, size_t n)
{
	struct msr_plan p;

	err = (struct tare_error)TARE_ERROR_INIT;
	CHECK_EQ(msr_plan_make(&p, cpu, ev, n, 0, &err), 0, "%s", err.what);
	return p;
}

/* The value of the nth write to a register in a phase. */
static uint64_t written(const struct msr_plan *p, enum msr_phase phase, uint32_t msr)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->step[i].phase == phase && p->step[i].op.msr == msr &&
		    p->step[i].op.kind == TARE_MSR_WRITE)
			return p->step[i].op.value;
	CHECK(false, "%s writes 0x%x nowhere", msr_phase_name(phase), msr);
	return UINT64_MAX;
}

TEST(intel_seven_counters_in_user_mode)
{
	struct msr_cpu cpu = skylake();
	struct msr_plan p = plan_on(&cpu, seven, 7);

	CHECK_EQ(written(&p, MSR_QUIET, 0x38f), 0, "stopped first");
	CHECK_EQ(written(&p, MSR_CONFIGURE, 0x186), 0x4100c5, "IA32_PERFEVTSEL0");
	CHECK_EQ(written(&p, MSR_CONFIGURE, 0x187), 0x4101c2, "IA32_PERFEVTSEL1");
	CHECK_EQ(written(&p, MSR_CONFIGURE, 0x188), 0x4181d0, "IA32_PERFEVTSEL2");
	CHECK_EQ(written(&p, MSR_CONFIGURE, 0x189), 0x4182d0, "IA32_PERFEVTSEL3");
	CHECK_EQ(written(&p, MSR_CONFIGURE, 0x38d), 0x222, "IA32_FIXED_CTR_CTRL");
	CHECK_EQ(written(&p, MSR_START, 0x38f), 0x70000000f, "IA32_PERF_GLOBAL_CTRL");
	CHECK_EQ(written(&p, MSR_STOP, 0x38f), 0, "stopped");
	CHECK_EQ(written(&p, MSR_CHECK, 0x390), 0x70000000f, "overflows cleared");
	for (uint32_t i = 0; i < 4; i++)
		CHECK_EQ(written(&p, MSR_ZERO, 0x4c1 + i), 0,
			 "IA32_A_PMC%u: what stood there can be put back whole", i);
	CHECK_EQ(written(&p, MSR_RESTORE, 0x4c4), 0, "by the same name");
	for (uint32_t i = 0; i < 3; i++)
		CHECK_EQ(written(&p, MSR_ZERO, 0x309 + i), 0, "IA32_FIXED_CTR%u", i);
}

TEST(window_on_a_fixed_counter)
{
	struct msr_cpu cpu = skylake();
	struct msr_event ev[7];
	struct msr_plan p;

	memcpy(ev, seven, sizeof(ev));
	ev[0].period = 512000;
	p = plan_on(&cpu, ev, 7);
	CHECK_EQ(written(&p, MSR_CONFIGURE, 0x38d), 0x22a, "interrupt on counter 0");
	/* Bits above the counter's width are reserved. */
	CHECK_EQ(written(&p, MSR_ZERO, 0x309), 0xfffffff83000, "-512000 in 48 bits");
	CHECK_EQ((int64_t)(written(&p, MSR_ZERO, 0x309) << 16) >> 16, -512000,
		 "as the counter sees it");
}

TEST(window_on_a_programmable_counter)
{
	struct msr_cpu cpu = skylake(), old = cpu_of("snb", "snb", "Intel Sandy Bridge", 4, 3);
	struct msr_event ev = {
		.name = "r00c5", .config = 0xc5, .user = true, .kernel = true, .period = 512000
	};
	struct msr_plan p = plan_on(&cpu, &ev, 1);

	CHECK_EQ(written(&p, MSR_CONFIGURE, 0x186), 0x5300c5, "USR OS INT EN");
	CHECK_EQ(written(&p, MSR_ZERO, 0x4c1), 0xfffffff83000, "IA32_A_PMC0");
	p = plan_on(&old, &ev, 1);
	CHECK_EQ(written(&p, MSR_ZERO, 0xc1), 0xfffffff83000, "32 bits and their sign");
	ev.period = UINT64_C(1) << 31;
	p = plan_on(&old, &ev, 1);
	CHECK_EQ(written(&p, MSR_ZERO, 0xc1), 0xffff80000000,
		 "the most that a write to IA32_PMC0 can set");
	ev.period++;
	p = plan_on(&cpu, &ev, 1);
	CHECK_EQ(written(&p, MSR_ZERO, 0x4c1), 0xffff7fffffff, "through IA32_A_PMC0");
	CHECK_EQ(msr_plan_make(&p, &cpu, &ev, 1, 0x7, &err), 0, "%s", err.what);
	CHECK_EQ(written(&p, MSR_ZERO, 0x4c4), 0xffff7fffffff, "through IA32_A_PMC3");
	CHECK_EQ(msr_plan_make(&p, &old, &ev, 1, 0, &err), -ENOSPC,
		 "a CPU without that name for it");
	ev.period = UINT64_C(1) << 47;
	CHECK_EQ(msr_plan_make(&p, &cpu, &ev, 1, 0, &err), -ERANGE, "half of the counter");
}

TEST(bits_of_a_select)
{
	static const struct {
		int line;
		uint64_t config;
		bool user, kernel;
		uint64_t select; /* 0: refused */
	} rows[] = {
		{ __LINE__, 0x00c4, true, true, 0x4300c4 },
		{ __LINE__, 0x20c4, false, true, 0x4220c4 },
		{ __LINE__, 0x01800ec2, true, true, 0x1c30ec2 },     /* inv, cmask 1 */
		{ __LINE__, 0x010401a1, true, false, 0x14501a1 },    /* edge, cmask 1 */
		{ __LINE__, 0x1000000c4, true, false, 0x1004100c4 }, /* in_tx */
		{ __LINE__, 0x4300c4, true, true, 0 }, /* EN, OS, USR are set by the plan */
		{ __LINE__, 0x1000c4, true, true, 0 }, /* INT */
		{ __LINE__, 0x0800c4, true, true, 0 }, /* PC */
		{ __LINE__, 0x2000c4, true, true, 0 }, /* ANY */
		{ __LINE__, 0x4000000c4, true, true, 0 },
		{ __LINE__, 0x00c4, false, false, 0 }, /* no mode */
		{ __LINE__, 0x8000, true, true, 0 },   /* a share of the slots */
	};
	struct msr_cpu cpu = skylake();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct msr_event ev = { .name = "e",
					.config = rows[i].config,
					.user = rows[i].user,
					.kernel = rows[i].kernel };
		struct msr_plan p;
		int ret = msr_plan_make(&p, &cpu, &ev, 1, 0, &err);

		CHECK_EQ(ret, rows[i].select ? 0 : -EINVAL, "row at line %d", rows[i].line);
		if (ret == 0)
			CHECK_EQ(written(&p, MSR_CONFIGURE, 0x186), rows[i].select,
				 "row at line %d", rows[i].line);
	}
}

TEST(amd_selects)
{
	struct msr_cpu cpu = zen3(),
		       zen4 = cpu_of("amd17h", "amd64_fam19h_zen4", "AMD Zen 4", 6, 0);
	struct msr_cpu k10 = cpu_of("-", "amd64_fam10h_barcelona", "AMD family 10h", 4, 0);
	/* Event 0x1cf (ex_tagged_ibs_ops): its bits 11:8 are in 35:32. */
	struct msr_event ev[] = {
		USER(0x76), { .name = "e", .config = 0x1000001cf, .user = true, .kernel = true }
	};
	struct msr_plan p = plan_on(&cpu, ev, 2);

	CHECK_EQ(written(&p, MSR_QUIET, 0xc0010200), 0, "no global control: the select stops");
	CHECK_EQ(written(&p, MSR_ZERO, 0xc0010201), 0, "PERF_CTR0");
	CHECK_EQ(written(&p, MSR_START, 0xc0010200), 0x410076, "PERF_CTL0");
	CHECK_EQ(written(&p, MSR_START, 0xc0010202), 0x1004301cf, "PERF_CTL1");
	CHECK_EQ(written(&p, MSR_STOP, 0xc0010202), 0x1000301cf, "all but EN");
	CHECK(!p.status, "overflows are not reported");

	p = plan_on(&zen4, ev, 2);
	CHECK_EQ(written(&p, MSR_CONFIGURE, 0xc0010200), 0x410076, "PERF_CTL0");
	CHECK_EQ(written(&p, MSR_START, 0xc0000301), 0x3, "PERF_GLOBAL_CTL");
	CHECK_EQ(written(&p, MSR_CHECK, 0xc0000302), 0x3, "PERF_GLOBAL_STATUS_CLR");

	p = plan_on(&k10, ev, 2);
	CHECK_EQ(written(&p, MSR_START, 0xc0010001), 0x1004301cf, "family 10h");
	CHECK_EQ(written(&p, MSR_ZERO, 0xc0010005), 0, "its counters lie apart from its selects");
}

TEST(every_amd_event_bit)
{
	struct msr_cpu cpu = zen3();

	for (uint64_t code = 0; code < 0x1000; code += 0x111) {
		struct msr_event ev = { .name = "e",
					.config = (code & 0xff) | (code & 0xf00) << 24,
					.user = true };
		struct msr_plan p = plan_on(&cpu, &ev, 1);
		uint64_t select = written(&p, MSR_START, 0xc0010200);

		CHECK_EQ((select & 0xff) | (select >> 24 & 0xf00), code, "event 0x%llx",
			 (unsigned long long)code);
	}
}

TEST(version_1_starts_by_its_selects)
{
	struct msr_cpu cpu = { .maker = TARE_MSR_INTEL,
			       .version = 1,
			       .programmable = 2,
			       .width = 40,
			       .name = "Core" };
	struct msr_plan p = plan_on(&cpu, &seven[3], 2);

	CHECK_EQ(written(&p, MSR_QUIET, 0x186), 0, "stopped");
	CHECK_EQ(written(&p, MSR_START, 0x187), 0x4101c2, "started");
	CHECK_EQ(written(&p, MSR_STOP, 0x187), 0x0101c2, "stopped again");
	for (size_t i = 0; i < p.n; i++)
		CHECK(p.step[i].op.msr != 0x38f && p.step[i].op.msr != 0x390,
		      "it has no global control");
	CHECK_EQ(msr_plan_make(&p, &cpu, &seven[2], 1, 0, &err), -ENOSPC,
		 "reference cycles need a fixed counter");
}

TEST(counters_run_out)
{
	struct msr_cpu cpu = skylake();
	struct msr_event ev[5] = { USER(0xc5), USER(0x1c2), USER(0x81d0), USER(0x82d0),
				   USER(0xc4) };
	struct msr_plan p;

	CHECK_EQ(msr_plan_make(&p, &cpu, ev, 5, 0, &err), -ENOSPC, "five on four");
	CHECK(strstr(err.what, "0xc4"), "it names the event: %s", err.what);
	CHECK_EQ(msr_plan_make(&p, &cpu, ev, 0, 0, &err), -EINVAL, "none");
}

TEST(events_make_room_for_each_other)
{
	struct msr_cpu cpu = skylake();
	struct msr_event ev[] = {
		USER(0xc5),   USER(0x1c2),
		USER(0x81d0), { .name = "bound", .config = 0x1a3, .user = true, .legal = 1 },
		USER(0xc0),   USER(0xc0)
	};
	struct msr_plan p = plan_on(&cpu, ev, 5);

	CHECK_EQ(p.place[3].index, 0, "the one that only counter 0 takes");
	CHECK(p.place[4].fixed, "instructions on the fixed counter");
	CHECK_EQ(p.enable, 0x10000000f, "all four and a fixed one");
	CHECK_EQ(msr_plan_make(&p, &cpu, ev, 6, 0, &err), -ENOSPC,
		 "instructions twice: no programmable one is left");
}

TEST(beside_others_on_the_same_cpu)
{
	static const struct msr_beside others = { .enabled = 0x100000001, .fixed_ctrl = 0x3 };
	struct msr_cpu cpu = skylake();
	struct msr_event ev[] = { USER(0xc5), USER(0x3c) };
	struct tare_msr_op op[64];
	struct msr_plan p;
	size_t n;

	CHECK_EQ(msr_plan_make(&p, &cpu, ev, 2, 0x100000003, &err), 0, "%s", err.what);
	CHECK_EQ(written(&p, MSR_CONFIGURE, 0x188), 0x4100c5,
		 "the third counter is the first free one");
	CHECK_EQ(written(&p, MSR_ZERO, 0x390), 0x200000004, "only our overflows are cleared");
	n = msr_plan_ops(&p, MSR_QUIET, MSR_STOP, op, 64);
	msr_plan_beside(op, n, &cpu, &others);
	CHECK(op[0].msr == 0x38f && op[0].value == 0x100000001, "bits of other plans stay");
	CHECK(op[2].msr == 0x38d && op[2].value == 0x23, "their modes and ours");
	CHECK(op[n - 2].msr == 0x38f && op[n - 2].value == 0x300000005, "theirs and ours");
	CHECK(op[n - 1].msr == 0x38f && op[n - 1].value == 0x100000001, "theirs");
}

TEST(offcore_responses)
{
	struct msr_cpu cpu = skylake();
	struct msr_event ev[] = {
		{ .name = "a", .config = 0x1b7, .extra = 0x10001, .user = true },
		{ .name = "b", .config = 0x1bb, .extra = 0x20002, .user = true }
	};
	struct msr_plan p = plan_on(&cpu, ev, 2);

	CHECK_EQ(written(&p, MSR_CONFIGURE, 0x1a6), 0x10001, "MSR_OFFCORE_RSP_0");
	CHECK_EQ(written(&p, MSR_CONFIGURE, 0x1a7), 0x20002, "MSR_OFFCORE_RSP_1");
	ev[0] = (struct msr_event){ .name = "f", .config = 0x1c6, .extra = 0x12, .user = true };
	p = plan_on(&cpu, ev, 1);
	CHECK_EQ(written(&p, MSR_CONFIGURE, 0x3f7), 0x12, "MSR_PEBS_FRONTEND");
	ev[0] = (struct msr_event){ .name = "a", .config = 0x1b7, .extra = 0x10001, .user = true };
	ev[1].config = 0x1b7;
	CHECK_EQ(msr_plan_make(&p, &cpu, ev, 2, 0, &err), -ENOSPC, "two wishes for one register");
	ev[1].extra = ev[0].extra;
	CHECK_EQ(msr_plan_make(&p, &cpu, ev, 2, 0, &err), 0, "the same wish twice");
	ev[0].extra = 0;
	CHECK_EQ(msr_plan_make(&p, &cpu, ev, 1, 0, &err), -EINVAL, "nothing to count");
	CHECK_EQ(msr_plan_make(&p, &cpu, &ev[1], 1, 0, &err), 0, "%s", err.what);
	ev[0] = (struct msr_event){ .name = "loads", .config = 0x1cd, .extra = 3, .user = true };
	CHECK_EQ(msr_plan_make(&p, &cpu, ev, 1, 0, &err), -EINVAL, "needs PEBS");
	ev[0] = (struct msr_event){ .name = "x", .config = 0xc4, .extra = 3, .user = true };
	CHECK_EQ(msr_plan_make(&p, &cpu, ev, 1, 0, &err), -EINVAL,
		 "an extra term of an event that has none");
}

/*
 * Each event in Linux: its register and every valid bit; 0: the event has none there. Source:
 * arch/x86/events/intel/core.c, *_extra_regs.
 */
TEST(second_registers_of_each_cpu)
{
	static const struct {
		int line;
		const char *bound, *libpfm;
		uint64_t config;
		uint32_t msr;
		uint64_t mask;
	} rows[] = {
		{ __LINE__, "core2", "core", 0x1b7, 0, 0 },
		{ __LINE__, "nhm", "nhm", 0x1b7, 0x1a6, 0xffff },
		{ __LINE__, "nhm", "nhm_ex", 0x1bb, 0, 0 },
		{ __LINE__, "wsm", "wsm_dp", 0x1bb, 0x1a7, 0xffff },
		{ __LINE__, "snb", "snb", 0x1b7, 0x1a6, 0x3f807f8fff },
		{ __LINE__, "snb", "snb_ep", 0x1bb, 0x1a7, 0x3fffff8fff },
		{ __LINE__, "ivb", "ivb", 0x1bb, 0x1a7, 0x3f807f8fff },
		{ __LINE__, "ivb", "ivb_ep", 0x1b7, 0x1a6, 0x3fffff8fff },
		{ __LINE__, "hsw", "hsw", 0x1b7, 0x1a6, 0x3fffff8fff },
		{ __LINE__, "hsw", "hsw", 0x1c6, 0, 0 },
		{ __LINE__, "bdw", "bdw_ep", 0x1c6, 0, 0 },
		{ __LINE__, "skl", "clx", 0x1bb, 0x1a7, 0x3fffff8fff },
		{ __LINE__, "skl", "skl", 0x1c6, 0x3f7, 0x7fff17 },
		{ __LINE__, "icl", "-", 0x1b7, 0x1a6, 0x3fffffbfff },
		{ __LINE__, "icl", "icl", 0x2b7, 0, 0 },
		{ __LINE__, "spr", "-", 0x1b7, 0, 0 },
		{ __LINE__, "spr", "-", 0x12a, 0x1a6, 0x3fffffffff },
		{ __LINE__, "spr", "spr", 0x12b, 0x1a7, 0x3fffffffff },
		{ __LINE__, "spr", "spr", 0x1c6, 0x3f7, 0x7fff1f },
		{ __LINE__, "spr", "spr", 0x4c2, 0x3f7, 0x8 },
		{ __LINE__, "slm", "slm", 0x2b7, 0x1a7, 0x368005ffff },
		{ __LINE__, "slm", "slm", 0x1b7, 0x1a6, 0x768005ffff },
		{ __LINE__, "slm", "slm", 0x1bb, 0, 0 },
		{ __LINE__, "slm", "glm", 0x2b7, 0x1a7, 0x360005ffbf },
		{ __LINE__, "slm", "tmt", 0x1b7, 0x1a6, 0x800ff0ffffff9fff },
		{ __LINE__, "grt", "-", 0x2b7, 0x1a7, 0x3fffffffff },
		{ __LINE__, "grt", "-", 0x12a, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct msr_cpu cpu = cpu_of(rows[i].bound, rows[i].libpfm, "CPU", 2, 3);
		struct msr_event with = { .name = "e",
					  .config = rows[i].config,
					  .extra = rows[i].msr ? rows[i].mask : 1,
					  .user = true },
				 without = with;
		struct msr_plan p;

		without.extra = 0;
		err = (struct tare_error)TARE_ERROR_INIT;
		CHECK_EQ(msr_plan_make(&p, &cpu, &with, 1, 0, &err), rows[i].msr ? 0 : -EINVAL,
			 "line %d: %s", rows[i].line, err.what);
		CHECK_EQ(msr_plan_make(&p, &cpu, &without, 1, 0, &err), rows[i].msr ? -EINVAL : 0,
			 "line %d: an event of its own, or nothing", rows[i].line);
		if (!rows[i].msr)
			continue;
		p = plan_on(&cpu, &with, 1);
		CHECK_EQ(written(&p, MSR_CONFIGURE, rows[i].msr), rows[i].mask, "line %d",
			 rows[i].line);
		for (unsigned bit = 0; bit < 64; bit++) {
			with.extra = UINT64_C(1) << bit;
			if (!(rows[i].mask & with.extra))
				CHECK_EQ(msr_plan_make(&p, &cpu, &with, 1, 0, &err), -EINVAL,
					 "line %d: bit %u would fault", rows[i].line, bit);
		}
	}
}

TEST(second_registers_that_are_not_known)
{
	struct msr_cpu cpu = skylake(), slm = cpu_of("slm", "slm", "Intel Silvermont", 2, 3),
		       nhm = cpu_of("nhm", "nhm", "Intel Nehalem", 4, 3);
	struct msr_event ev[] = { { .name = "a", .config = 0x1b7, .extra = 1, .user = true },
				  { .name = "b", .config = 0x1b7, .extra = 2, .user = true } },
			 plain = USER(0xc5);
	struct msr_event latency = USER(0x100b);
	struct msr_plan p;

	CHECK_EQ(msr_plan_make(&p, &slm, ev, 2, 0, &err), -ENOSPC, "two wishes");
	CHECK(strstr(err.hint, "event=0xb7,umask=0x2"), "%s", err.hint);
	CHECK_EQ(msr_plan_make(&p, &nhm, ev, 2, 0, &err), -ENOSPC, "two wishes, one register");
	CHECK(!strstr(err.hint, "umask"), "%s", err.hint);
	CHECK_EQ(msr_plan_make(&p, &nhm, &latency, 1, 0, &err), -EINVAL,
		 "Nehalem's latency event needs PEBS");
	CHECK_EQ(msr_plan_make(&p, &cpu, &latency, 1, 0, &err), 0,
		 "which is another one on Skylake");
	cpu.extras = NULL;
	CHECK_EQ(msr_plan_make(&p, &cpu, ev, 1, 0, &err), -ENODATA, "unknown");
	ev[0].extra = 0;
	CHECK_EQ(msr_plan_make(&p, &cpu, ev, 1, 0, &err), -ENODATA, "nor whether it needs one");
	CHECK_EQ(msr_plan_make(&p, &cpu, &plain, 1, 0, &err), 0, "other events still work: %s",
		 err.what);
}

/* Source: Intel SDM vol. 3B, "Fixed Counter 3": TOPDOWN.SLOTS, from Ice Lake on. */
TEST(slots_on_fixed_counter_3)
{
	struct msr_cpu icl = cpu_of("icl", "icl", "Intel Ice Lake", 8, 4),
		       spr = cpu_of("spr", "spr", "Intel Sapphire Rapids", 8, 4);
	struct msr_cpu tmt = cpu_of("slm", "tmt", "Intel Tremont", 4, 3), skl = skylake(),
		       *without[] = { &tmt, &skl };
	struct msr_event ev[] = {
		{ .name = "slots", .config = 0x400, .user = true, .kernel = true },
		USER(0xc0),
		USER(0x400)
	};
	struct msr_plan p = plan_on(&icl, ev, 2);

	CHECK(p.place[0].fixed && p.place[0].index == 3 && p.place[0].counter == 0x30c,
	      "IA32_FIXED_CTR3");
	CHECK_EQ(written(&p, MSR_CONFIGURE, 0x38d), 0x3002,
		 "OS and USR of the fourth, USR of the first");
	CHECK_EQ(written(&p, MSR_ZERO, 0x30c), 0, "from 0");
	CHECK_EQ(written(&p, MSR_START, 0x38f), 0x900000000, "both, and not PERF_METRICS (bit 48)");
	CHECK_EQ(written(&p, MSR_CHECK, 0x390), 0x900000000, "their overflows");
	ev[0].period = 512000;
	p = plan_on(&spr, ev, 2);
	CHECK_EQ(written(&p, MSR_CONFIGURE, 0x38d), 0xb002, "its interrupt");
	CHECK_EQ(written(&p, MSR_ZERO, 0x30c), 0xfffffff83000, "-512000");
	CHECK_EQ(msr_plan_make(&p, &icl, ev, 3, 0, &err), -ENOSPC, "twice: there is one");
	CHECK(strstr(err.what, "0x400"), "%s", err.what);
	for (size_t i = 0; i < ARRAY_SIZE(without); i++) {
		CHECK_EQ(msr_plan_make(&p, without[i], ev, 1, 0, &err), -ENOSPC,
			 "%s has no such counter", without[i]->name);
		CHECK(strstr(err.what, without[i]->name) && strstr(err.what, "slots") &&
			      strstr(err.hint, "only fixed counter 3 counts it"),
		      "%s: %s", err.what, err.hint);
	}
	for (uint64_t share = 0x8000; share <= 0x8700; share += 0x100) {
		ev[1].config = share;
		CHECK_EQ(msr_plan_make(&p, &icl, ev, 2, 0, &err), -EINVAL, "0x%llx",
			 (unsigned long long)share);
		CHECK(strstr(err.what, "MSR_PERF_METRICS") && strstr(err.hint, "perf"), "%s",
		      err.what);
	}
}

/* Writes are allowed by the module, and the saved values are restored, newest first. */
TEST(plans_are_allowed_and_put_back)
{
	struct msr_cpu cpus[] = { skylake(), zen3(), cpu_of("amd17h", "-", "AMD Zen 5", 6, 0),
				  cpu_of("icl", "icl", "Intel Ice Lake", 8, 4) };

	for (size_t c = 0; c < ARRAY_SIZE(cpus); c++) {
		bool intel = cpus[c].maker == TARE_MSR_INTEL;
		struct msr_plan p = plan_on(&cpus[c], intel ? seven : seven + 3, intel ? 7 : 4);
		struct tare_msr_op saved[64], back[64];
		size_t n_saved = msr_plan_ops(&p, MSR_SAVE, MSR_SAVE, saved, 64);
		size_t n = msr_plan_ops(&p, MSR_RESTORE, MSR_RESTORE, back, 64);
		bool gate = cpus[c].version >= 2;

		for (size_t i = 0; i < p.n; i++)
			CHECK_EQ(msr_op_check(&p.step[i].op, cpus[c].maker, &err), 0, "%s",
				 err.what);
		CHECK_EQ(n, n_saved + gate, "each once, and the gate once more");
		for (size_t i = 0; i < n_saved; i++)
			saved[i].value = 1000 + i;
		msr_plan_saved(back, n, saved, n_saved);
		if (gate) {
			CHECK_EQ(back[0].msr, intel ? 0x38f : 0xc0000301, "the gate first");
			CHECK_EQ(back[0].value, 0, "shut");
			CHECK_EQ(back[n - 1].msr, back[0].msr, "the gate last");
			CHECK_EQ(back[n - 1].value, 1000, "as it was");
		}
		for (size_t i = gate; i + gate < n; i++)
			CHECK_EQ(back[i].value, 1000 + n_saved - 1 - (i - gate), "newest first");
	}
}

TEST(as_the_kernel_traces_it)
{
	struct msr_cpu cpu = skylake();
	struct msr_event ev[] = { USER(0xc5) };
	struct msr_plan p = plan_on(&cpu, ev, 1);
	struct text module = { 0 }, plain = { 0 };

	msr_plan_trace(&module, &p, &cpu, true);
	CHECK_STR(module.s,
		  "read_msr: 38f, value ?\nwrite_msr: 38f, value 0\n"
		  "read_msr: 186, value ?\nwrite_msr: 186, value 4100c5\n"
		  "read_msr: 4c1, value ?\nwrite_msr: 4c1, value 0\n"
		  "write_msr: 390, value 1\nwrite_msr: 38f, value 1\n"
		  "write_msr: 38f, value 0\nread_msr: 4c1, value ?\n"
		  "read_msr: 38e, value ?\nwrite_msr: 390, value 1\n"
		  "write_msr: 38f, value 0\nwrite_msr: 4c1, value saved\n"
		  "write_msr: 186, value saved\nwrite_msr: 38f, value saved\n",
		  "by the module");
	msr_plan_trace(&plain, &p, &cpu, false);
	CHECK(!strncmp(
		      plain.s,
		      "read_msr: 38f, value ?\nread_msr: 186, value ?\nread_msr: 4c1, value ?\nwrite_msr: 38f, value 0\n",
		      91),
	      "saved first: %s", plain.s);
	text_free(&module);
	text_free(&plain);
}

/*
 * Sources: Intel SDM vol. 3B, the chapters per microarchitecture; "Full-Width Writes": since Ivy
 * Bridge. AMD PPRs.
 */
TEST(what_each_cpu_has)
{
	static const struct {
		int line;
		const char *bound, *libpfm, *name;
		unsigned version, width;
		bool full_width;
	} rows[] = {
		{ __LINE__, "-", "coreduo", "", 1, 40, false },
		{ __LINE__, "core2", "core", "", 2, 40, false },
		{ __LINE__, "nhm", "nhm_ex", "", 3, 48, false },
		{ __LINE__, "wsm", "wsm", "", 3, 48, false },
		{ __LINE__, "snb", "snb", "", 3, 48, false },
		{ __LINE__, "ivb", "ivb", "", 3, 48, true },
		{ __LINE__, "hsw", "hsw", "", 3, 48, true },
		{ __LINE__, "bdw", "bdw", "", 3, 48, true },
		{ __LINE__, "skl", "clx", "", 4, 48, true },
		{ __LINE__, "icl", "icx", "", 5, 48, true },
		{ __LINE__, "spr", "spr", "", 5, 48, true },
		{ __LINE__, "grt", "-", "", 5, 48, true },
		{ __LINE__, "slm", "slm", "", 3, 40, true },
		{ __LINE__, "slm", "glm", "", 4, 48, true },
		{ __LINE__, "slm", "tmt", "", 5, 48, true },
		{ __LINE__, "amd16h", "amd64_fam16h", "", 0, 48, true },
		{ __LINE__, "amd15h", "-", "", 1, 48, true },
		{ __LINE__, "amd17h", "-", "AMD Zen 5", 2, 48, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct msr_cpu cpu = cpu_of(rows[i].bound, rows[i].libpfm, rows[i].name, 4, 3);

		CHECK_EQ(cpu.version, rows[i].version, "row at line %d", rows[i].line);
		CHECK(cpu.width == rows[i].width && cpu.fixed_width == rows[i].width,
		      "row at line %d", rows[i].line);
		CHECK_EQ(cpu.full_width, rows[i].full_width, "row at line %d", rows[i].line);
		CHECK_EQ(cpu.maker,
			 strncmp(rows[i].bound, "amd", 3) ? TARE_MSR_INTEL : TARE_MSR_AMD,
			 "row at line %d", rows[i].line);
	}
}

/* The width of their counters is unknown. */
TEST(cpus_that_are_not_known_are_refused)
{
	struct msr_cpu cpu;

	CHECK_EQ(msr_cpu_of(&cpu, "slm", "knl", "Intel Knights Landing", 2, 3, &err), -ENODATA);
	CHECK(strstr(err.what, "Knights Landing") && strstr(err.hint, "without --cpu"), "%s: %s",
	      err.what, err.hint);
	CHECK_EQ(msr_cpu_of(&cpu, "slm", "knm", "Intel Knights Mill", 2, 3, &err), -ENODATA);
}

/* 40 bits, all of which a write sets. Source: Linux's boot messages on such CPUs. */
TEST(silvermont_has_40_bits)
{
	struct msr_cpu cpu = cpu_of("slm", "slm", "Intel Silvermont", 2, 3);
	struct msr_event ev[] = {
		{ .name = "f", .config = 0xc0, .user = true, .period = 512000 },
		{ .name = "p", .config = 0xc5, .user = true, .period = 1ull << 32 }
	};
	struct msr_plan p = plan_on(&cpu, ev, 2);

	CHECK_EQ(written(&p, MSR_ZERO, 0x309), 0xfffff83000, "-512000");
	CHECK_EQ(written(&p, MSR_ZERO, 0x4c1), 0xff00000000, "IA32_A_PMC0");
	CHECK_EQ(p.wrap, 1ull << 40, "where they wrap");
	ev[0].period = 1ull << 39;
	CHECK_EQ(msr_plan_make(&p, &cpu, ev, 2, 0, &err), -ERANGE, "half of the counter");
	CHECK(strstr(err.what, "40 bits"), "%s", err.what);
}

/* No counter, and the reason. */
TEST(no_counter_and_why)
{
	struct msr_cpu cpu = cpu_of("nhm", "nhm", "Intel Nehalem", 4, 3);
	struct msr_event ev = {
		.name = "r00c5", .config = 0xc5, .user = true, .period = 1ull << 32
	};
	struct msr_plan p;

	err = (struct tare_error)TARE_ERROR_INIT;
	CHECK_EQ(msr_plan_make(&p, &cpu, &ev, 1, 0, &err), -ENOSPC);
	CHECK(strstr(err.what, "Nehalem") && strstr(err.hint, "2147483648"), "%s: %s", err.what,
	      err.hint);
	ev.period = 1u << 31;
	CHECK_EQ(msr_plan_make(&p, &cpu, &ev, 1, 0, &err), 0, "%s", err.what);
	ev.period = 0;
	ev.legal = 0x30;
	err = (struct tare_error)TARE_ERROR_INIT;
	CHECK_EQ(msr_plan_make(&p, &cpu, &ev, 1, 0, &err), -ENOSPC);
	CHECK(strstr(err.hint, "4 programmable"), "%s: %s", err.what, err.hint);
}

/* Which counters, and the events that use them. */
TEST(no_counter_is_left_and_why)
{
	struct msr_cpu cpu = cpu_of("nhm", "nhm", "Intel Nehalem", 4, 3);
	struct msr_event ev[] = { USER(0x1c5), USER(0x1a3), USER(0x5a3), USER(0x8a3) };
	struct msr_plan p;

	ev[0].name = "branches";
	ev[1].name = "first";
	ev[2].name = "second";
	ev[3].name = "third";
	for (size_t i = 1; i < ARRAY_SIZE(ev); i++)
		ev[i].legal = 3;
	err = (struct tare_error)TARE_ERROR_INIT;
	CHECK_EQ(msr_plan_make(&p, &cpu, ev, ARRAY_SIZE(ev), 0, &err), -ENOSPC);
	CHECK_STR(
		err.what,
		"no counter is left for third: Intel Nehalem counts third, second, first on counters 0 to 1 only");
	ev[1].legal = 5;
	err = (struct tare_error)TARE_ERROR_INIT;
	CHECK_EQ(msr_plan_make(&p, &cpu, ev, ARRAY_SIZE(ev), 0, &err), 0, "%s", err.what);
	ev[1].legal = 1;
	CHECK_EQ(msr_plan_make(&p, &cpu, ev, 2, 1, &err), -ENOSPC);
	CHECK_STR(
		err.what,
		"no counter is left for first: Intel Nehalem counts first on counter 0 only; other groups hold counter 0");
}

TEST(the_largest_plan_fits)
{
	struct msr_cpu cpu = cpu_of("icl", "icl", "Intel Ice Lake", 8, 4);
	struct msr_event ev[12] = { USER(0xc0), USER(0x3c), USER(0x300), USER(0x400) };
	struct msr_plan p;

	for (unsigned i = 4; i < 12; i++)
		ev[i] = (struct msr_event){ .name = "e", .config = 0x100 + i, .user = true };
	p = plan_on(&cpu, ev, 12);
	CHECK(p.n < MSR_STEPS_MAX, "%zu steps", p.n);
	CHECK_EQ(p.enable, 0xf000000ff, "all of them");
	CHECK_EQ(written(&p, MSR_CONFIGURE, 0x38d), 0x2222, "all four fixed ones");
	CHECK(p.n - 1 > 0 && p.step[p.n - 1].phase == MSR_RESTORE, "whole to the end");
}

TEST_MAIN()
