// SPDX-License-Identifier: GPL-2.0
/* The list of registers: who may read and write which bits. Narrowed by `deny` at load, widened never. */
#define pr_fmt(fmt) "tare_msr: " fmt
#include <linux/kernel.h>
#include <linux/module.h>
#include <asm/processor.h>
#include "module.h"

#undef MSR_ROW
#define MSR_ROW(name, number, count, step, maker, read, write, zero, flags, about) \
	{ name, number, count, step, maker, flags, read, write, zero, 0 },

static struct row rows[] = {
#include "msr_table.h"
};

static unsigned int deny[64];
static unsigned int n_deny;
module_param_array(deny, uint, &n_deny, 0400);
MODULE_PARM_DESC(deny, "registers, by number, that nobody may read or write through this module");

const struct row *const table_rows = rows;
u32 table_maker;
u32 slot_msr[SLOTS_MAX];
bool slot_is_gate[SLOTS_MAX];

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

int table_init(void)
{
	u32 slots = 0;

	table_maker = maker_here();
	if (!table_maker) {
		pr_err("the registers of this CPU's maker are not known\n");
		return -ENODEV;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct row *r = &rows[i];

		if (!(r->maker & table_maker) || !r->write || (r->flags & TARE_MSR_CLEAR))
			continue;
		r->slot = slots;
		for (u32 k = 0; k < r->count; k++, slots++) {
			if (WARN_ON(slots == SLOTS_MAX))
				return -ENOSPC;
			slot_msr[slots] = r->number + k * r->step;
			slot_is_gate[slots] = r->flags & TARE_MSR_GATE;
		}
	}
	return 0;
}

int table_find(u32 msr, u32 *slot)
{
	for (u32 i = 0; i < n_deny; i++)
		if (deny[i] == msr)
			return -1;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		u32 past = msr - r->number; /* huge when msr is below */

		if (!(r->maker & table_maker) || past >= r->count * r->step || past % r->step)
			continue;
		*slot = r->slot + past / r->step;
		return i;
	}
	return -1;
}
