// SPDX-License-Identifier: GPL-2.0
/*
 * The list of registers: which bits may be read and written. `deny` narrows it at load; it is never
 * widened.
 */
#define pr_fmt(fmt) "tare_msr: " fmt
#include <linux/kernel.h>
#include <linux/module.h>
#include <asm/processor.h>
#include "compat.h"
#include "module.h"

#undef MSR_ROW
#define MSR_ROW(name, number, count, step, maker, read, write, zero, flags, about)                 \
	{ name, number, count, step, maker, flags, read, write, zero },

static const struct row rows[] = {
#include "msr_table.h"
};

#define MSR_ROW(...)
#define MSR_RDPMC(maker, index, count, number, step) { maker, index, count, number, step },
static const struct {
	u32 maker, index, count, number, step;
} rdpmc_rows[] = {
#include "msr_table.h"
};

static unsigned int deny[64];
static unsigned int n_deny;
module_param_array(deny, uint, &n_deny, 0400);
MODULE_PARM_DESC(deny, "registers, by number, that may not be read or written through this module");

const struct row *const table_rows = rows;
u32 table_maker;
u32 slot_msr[SLOTS_MAX];
bool slot_is_gate[SLOTS_MAX];
bool slot_is_shared[SLOTS_MAX];

/*
 * The MSRs for which the kernel tracks reservations: Intel's architectural ones, and those of
 * family 6, which have the same numbers. For others, such as family 15, it accepts every
 * reservation. Source: arch/x86/kernel/cpu/perfctr-watchdog.c, nmi_perfctr_msr_to_bit().
 */
static bool counters_are_in_the_book(void)
{
	return table_maker != TARE_MSR_INTEL || boot_cpu_has(X86_FEATURE_ARCH_PERFMON) ||
		boot_cpu_data.x86 == 6;
}

static u32 maker_here(void)
{
	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_INTEL:
		return TARE_MSR_INTEL;
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		return TARE_MSR_AMD;
	}
	return 0;
}

/* A hash table of every register that exists on this machine and is not denied. */
enum { PLACES = 256 };
static struct {
	u32 msr;
	u8 row, slot;
	bool used;
} places[PLACES];

static u32 place_of(u32 msr)
{
	return (msr * 0x9e3779b1u) >> 24;
}

/*
 * Registers with two numbers. Sources: Intel SDM vol. 3B, "Full-Width Writes"; AMD PPR for family
 * 19h, "PERF_LEGACY_CTL" (an alias of the first four of PERF_CTL) and "MPERF_READONLY".
 */
static const struct {
	u32 number, step, other, other_step, count;
} aliases[] = {
	{ 0xc1, 1, 0xc1 + MSR_FULL_WIDTH, 1, 8 },
	{ 0xc0010000, 1, 0xc0010200, 2, 4 },
	{ 0xc0010004, 1, 0xc0010201, 2, 4 },
	{ 0xe7, 1, 0xc00000e7, 1, 2 },
};

/* Its other number; its own if it has none. */
static u32 alias_of(u32 msr)
{
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
		for (u32 k = 0; k < aliases[i].count; k++) {
			u32 one = aliases[i].number + k * aliases[i].step,
			    other = aliases[i].other + k * aliases[i].other_step;

			if (msr == one || msr == other)
				return msr == one ? other : one;
		}
	return msr;
}

static bool is_denied(u32 msr)
{
	u32 other = alias_of(msr);

	for (u32 i = 0; i < n_deny; i++)
		if (deny[i] == msr || deny[i] == other)
			return true;
	return false;
}

static int add_register(u32 msr, u32 row, u32 slot)
{
	u32 at = place_of(msr);

	for (u32 turn = 0; turn < PLACES; turn++, at = (at + 1) % PLACES) {
		if (places[at].used && places[at].msr == msr)
			return 0; /* the first row of a register applies */
		if (places[at].used)
			continue;
		places[at].msr = msr;
		places[at].row = row;
		places[at].slot = slot;
		places[at].used = true;
		return 0;
	}
	return -ENOSPC;
}

/*
 * Do the threads of a core share the registers of offcore events? On Nehalem and Westmere they do.
 * Source: Linux, arch/x86/events/perf_event.h, table at "offcore"; arch/x86/events/intel/core.c,
 * models without ERF_NO_HT_SHARING that have threads.
 */
static bool threads_share(void)
{
	static const u8 models[] = { 0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f };

	for (size_t i = 0; i < ARRAY_SIZE(models); i++)
		if (table_maker == TARE_MSR_INTEL && boot_cpu_data.x86 == 6 &&
		    boot_cpu_data.x86_model == models[i])
			return true;
	return false;
}

/* Can a counter be set to its full width? */
static bool has_full_width(void)
{
	u64 capabilities = 0;

	return table_maker == TARE_MSR_INTEL && !rdmsrq_safe(MSR_CAPABILITIES, &capabilities) &&
		capabilities & MSR_CAPABLE_OF_FULL_WIDTH;
}

int table_init(void)
{
	u32 slots = 0, registers = 0;
	bool full_width;

	table_maker = maker_here();
	if (!table_maker) {
		pr_err("the registers of this CPU's maker are not known\n");
		return -ENODEV;
	}
	if (!counters_are_in_the_book()) {
		pr_err("the counters of Intel's family %u are not known, and this CPU has no architectural ones\n",
		       boot_cpu_data.x86);
		return -ENODEV;
	}
	full_width = has_full_width();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		bool saved = r->write && !(r->flags & TARE_MSR_CLEAR);

		for (u32 k = 0; r->maker & table_maker && k < r->count; k++) {
			u32 msr = r->number + k * r->step;

			if (is_denied(msr))
				continue;
			/* Half of the table stays free, so that unsuccessful searches end soon. */
			if (WARN_ON(slots == SLOTS_MAX || registers++ == PLACES / 2 ||
				    add_register(msr, i, saved ? slots : 0)))
				return -ENOSPC;
			if (!saved)
				continue;
			slot_msr[slots] = full_width && r->flags & TARE_MSR_SIGNED
				? msr + MSR_FULL_WIDTH
				: msr;
			slot_is_shared[slots] = threads_share() && r->flags & TARE_MSR_SHARED;
			slot_is_gate[slots++] = r->flags & TARE_MSR_GATE;
		}
	}
	return 0;
}

int table_find(u32 msr, u32 *slot)
{
	for (u32 at = place_of(msr); places[at].used; at = (at + 1) % PLACES)
		if (places[at].msr == msr) {
			*slot = places[at].slot;
			return places[at].row;
		}
	return -1;
}

bool table_rdpmc(u32 index)
{
	for (size_t i = 0; i < ARRAY_SIZE(rdpmc_rows); i++) {
		u32 k = index - rdpmc_rows[i].index;

		if (rdpmc_rows[i].maker & table_maker && k < rdpmc_rows[i].count)
			return !is_denied(rdpmc_rows[i].number + k * rdpmc_rows[i].step);
	}
	return false;
}
