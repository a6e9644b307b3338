// SPDX-License-Identifier: GPL-2.0
/*
 * For the tests only: emulated counters for a machine that has none. Two kprobes on the kernel's
 * accessors implement the counter registers of Intel's architectural performance monitoring 4 (4
 * programmable, 3 fixed, 48 bits, full-width writes at 0x4c1) for tare's module and for the
 * kernel's own msr driver. An enabled counter is incremented by 1000 at each access to the CPU's
 * registers; reserved bits and registers after the last one fault. There are two registers of
 * offcore events for each CPU, or with shared=1 for all threads of a core.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/topology.h>

enum { STEP = 1000 };
#define COUNTER_BITS GENMASK_ULL(47, 0)

/* Registers of one CPU, each with the bits that may be written without a fault. */
enum reg {
	SELECT0,
	PMC0 = 4,
	FIXED0 = 8,
	FIXED_CTRL = 11,
	STATUS,
	GLOBAL,
	CLEAR,
	CAPABLE,
	OFFCORE,
	REGS = OFFCORE + 2
};
static const struct {
	u32 first, count;
	enum reg reg;
	u64 bits;
} rows[] = {
	{ 0x186, 4, SELECT0, 0xffffffff },
	{ 0xc1, 4, PMC0, ~0ULL },
	{ 0x309, 3, FIXED0, COUNTER_BITS },
	{ 0x38d, 1, FIXED_CTRL, 0xbbb },
	{ 0x38e, 1, STATUS, 0 },
	{ 0x38f, 1, GLOBAL, 0x70000000f },
	{ 0x390, 1, CLEAR, 0x70000000f },
	{ 0x18a, 4, REGS, 0 },
	{ 0xc5, 4, REGS, 0 },
	{ 0x30c, 1, REGS, 0 },
	{ 0x345, 1, CAPABLE, 0 },
	{ 0x4c1, 4, PMC0, COUNTER_BITS },
	{ 0x4c5, 4, REGS, 0 },
	{ 0x1a6, 2, OFFCORE, ~0ULL },
};

struct bank {
	u64 value[REGS];
};
static DEFINE_PER_CPU(struct bank, banks);
static bool shared;
module_param(shared, bool, 0);

static void count(u64 *counter, bool on)
{
	if (on)
		*counter = (*counter + STEP) & COUNTER_BITS;
}

static void look(struct bank *b)
{
	for (int i = 0; i < 4; i++)
		count(&b->value[PMC0 + i],
		      b->value[GLOBAL] >> i & 1 && b->value[SELECT0 + i] & BIT(22) &&
			      b->value[SELECT0 + i] & (BIT(16) | BIT(17)));
	for (int i = 0; i < 3; i++)
		count(&b->value[FIXED0 + i],
		      b->value[GLOBAL] >> (32 + i) & 1 && b->value[FIXED_CTRL] >> (4 * i) & 3);
}

/* 1: handled; 0: not ours; -EIO: it faults. */
static int access(u32 msr, u64 *value, bool write)
{
	struct bank *b = this_cpu_ptr(&banks);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		u32 at = msr - rows[i].first;
		u64 *r;

		if (at >= rows[i].count)
			continue;
		if (rows[i].reg == REGS || (write && (!rows[i].bits || *value & ~rows[i].bits)))
			return -EIO;
		look(b);
		if (shared && rows[i].reg == OFFCORE)
			b = per_cpu_ptr(
				&banks,
				cpumask_first(topology_sibling_cpumask(smp_processor_id())));
		r = &b->value[rows[i].reg + at];
		if (!write)
			*value = rows[i].reg == CLEAR ? 0 : rows[i].reg == CAPABLE ? BIT(13) : *r;
		else if (rows[i].reg == CLEAR)
			b->value[STATUS] &= ~*value;
		else if (rows[i].first == 0xc1) /* the other name sets all bits */
			*r = (u64)(s32)*value & COUNTER_BITS;
		else
			*r = *value;
		return 1;
	}
	return 0;
}

static int answer(struct pt_regs *regs, unsigned long ax)
{
	regs->ax = ax;
	regs->ip = *(unsigned long *)regs->sp;
	regs->sp += sizeof(long);
	return 1;
}

/* u64 native_read_msr_safe(u32 msr, int *err) */
static int on_read(struct kprobe *probe, struct pt_regs *regs)
{
	u64 value = 0;
	int ret = access((u32)regs->di, &value, false);

	if (!ret)
		return 0;
	*(int *)regs->si = ret < 0 ? ret : 0;
	return answer(regs, value);
}

/* int native_write_msr_safe(u32 msr, u32 low, u32 high) */
static int on_write(struct kprobe *probe, struct pt_regs *regs)
{
	u64 value = (u32)regs->si | (u64)(u32)regs->dx << 32;
	int ret = access((u32)regs->di, &value, true);

	return ret ? answer(regs, ret < 0 ? (unsigned long)ret : 0) : 0;
}

/*
 * A kprobe with a post handler is never optimised into a jump, which could not change the return
 * address.
 */
static void after(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe read_probe = { .symbol_name = "native_read_msr_safe",
				    .pre_handler = on_read,
				    .post_handler = after };
static struct kprobe write_probe = { .symbol_name = "native_write_msr_safe",
				     .pre_handler = on_write,
				     .post_handler = after };
static struct kprobe *probes[] = { &read_probe, &write_probe };

static int __init fakepmu_init(void)
{
	return register_kprobes(probes, ARRAY_SIZE(probes));
}

static void __exit fakepmu_exit(void)
{
	unregister_kprobes(probes, ARRAY_SIZE(probes));
}

module_init(fakepmu_init);
module_exit(fakepmu_exit);
MODULE_DESCRIPTION("counters for tests on a machine without");
MODULE_LICENSE("GPL");
