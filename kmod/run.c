// SPDX-License-Identifier: GPL-2.0
/* Runs a checked batch on its CPU, with interrupts disabled; and restores saved registers. */
#define pr_fmt(fmt) "tare_msr: " fmt
#include <linux/kernel.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/topology.h>
#include <asm/asm.h>
#include "compat.h"
#include "module.h"

/*
 * The kernel has no rdpmc that survives a fault: this one has its own entry in the exception table.
 */
static int rdpmc_safe(u32 index, u64 *value)
{
	int err = -EIO;
	u32 low = 0, high = 0;

	asm volatile("1:	rdpmc\n"
		     "	xorl %[err], %[err]\n"
		     "2:\n" _ASM_EXTABLE(1b, 2b)
		     : [err] "+r"(err), "+a"(low), "+d"(high)
		     : "c"(index)
		     : "cc");
	*value = low | (u64)high << 32;
	return err;
}

/*
 * For registers that the threads of a core share: held during a thread's first write, and while one
 * is restored.
 */
static DEFINE_RAW_SPINLOCK(sharing);

/*
 * Another thread of the calling CPU's core that has written a shared register and not restored it;
 * NULL: none.
 */
static struct cpu_saved *sharer(struct cpu_saved *s, u64 bit)
{
	int cpu, here = smp_processor_id();

	for_each_cpu(cpu, topology_sibling_cpumask(here))
	{
		struct cpu_saved *other = READ_ONCE(s->all[cpu]);

		if (cpu != here && other && READ_ONCE(other->have) & bit)
			return other;
	}
	return NULL;
}

/*
 * Save the value to restore: for a shared register the value before any thread's first write, not
 * what another thread wrote.
 */
static void save(struct cpu_saved *s, u32 slot, u64 value)
{
	u64 bit = 1ULL << slot;
	struct cpu_saved *other = slot_is_shared[slot] ? sharer(s, bit) : NULL;

	s->order[s->n++] = slot;
	s->value[slot] = other ? other->value[slot] : value;
	WRITE_ONCE(s->have, s->have | bit);
}

/*
 * A register of the counters is written completely, so that no bit of an earlier owner (such as an
 * interrupt) survives; bits that are neither ours nor known to be 0 are kept.
 */
static int write_whole(struct batch *b, u32 i)
{
	const struct tare_msr_op *o = &b->op[i];
	const struct row *row = &table_rows[b->found[i].row];
	u32 slot = b->found[i].slot;
	u64 kept = ~(row->write | row->zero), old = 0, bit = 1ULL << slot;
	bool clear = row->flags & TARE_MSR_CLEAR;
	struct cpu_saved *s = b->saved;
	int err;

	if (kept || !(clear || (s->have & bit))) {
		err = rdmsrq_safe(o->msr, &old);
		if (err)
			return err;
	}
	if (!clear && !(s->have & bit))
		save(s, slot, old);
	return wrmsrq_safe(o->msr, (old & kept) | o->value);
}

static int write_one(struct batch *b, u32 i)
{
	bool shared = slot_is_shared[b->found[i].slot];
	int err;

	if (shared)
		raw_spin_lock(&sharing);
	err = write_whole(b, i);
	if (shared)
		raw_spin_unlock(&sharing);
	return err;
}

static int run_one(struct batch *b, u32 i)
{
	struct tare_msr_op *o = &b->op[i];
	int err = 0;

	switch (o->kind) {
	case TARE_MSR_READ:
		err = rdmsrq_safe(o->msr, &o->value);
		o->value &= table_rows[b->found[i].row].read;
		break;
	case TARE_MSR_WRITE:
		err = write_one(b, i);
		break;
	case TARE_MSR_TSC:
		o->value = rdtsc_ordered();
		break;
	case TARE_MSR_RDPMC:
		err = rdpmc_safe(o->msr, &o->value);
		break;
	}
	if (err && o->kind != TARE_MSR_WRITE)
		o->value = 0;
	return err ? -EIO : 0;
}

void batch_run(struct batch *b)
{
	unsigned long flags;
	bool failed = false;

	b->done = 0;
	local_irq_save(flags);
	b->tsc_first = rdtsc_ordered();
	for (u32 i = 0; i < b->n; i++) {
		if (failed && !(b->flags & TARE_MSR_KEEP_GOING)) {
			b->op[i].err = -ECANCELED;
			continue;
		}
		b->op[i].err = run_one(b, i);
		failed |= b->op[i].err != 0;
		b->done += b->op[i].err == 0;
	}
	b->tsc_last = rdtsc_ordered();
	local_irq_restore(flags);
}

static void put_back(u32 slot, u64 value)
{
	int err = wrmsrq_safe(slot_msr[slot], value);

	if (err)
		pr_warn_ratelimited("cpu %d: cannot put 0x%llx back into register 0x%x\n",
				    smp_processor_id(), value, slot_msr[slot]);
}

/* A shared register keeps the value that the other threads use, until the last of them is done. */
static void put_back_shared(struct cpu_saved *s, u32 slot)
{
	u64 bit = 1ULL << slot;

	raw_spin_lock(&sharing);
	WRITE_ONCE(s->have, s->have & ~bit);
	if (!sharer(s, bit))
		put_back(slot, s->value[slot]);
	raw_spin_unlock(&sharing);
}

void saved_restore_here(struct cpu_saved *s)
{
	unsigned long flags;

	local_irq_save(flags);
	for (u32 i = s->n; i-- > 0;)
		if (slot_is_gate[s->order[i]])
			put_back(s->order[i], 0);
	for (u32 i = s->n; i-- > 0;)
		if (slot_is_shared[s->order[i]])
			put_back_shared(s, s->order[i]);
		else if (!slot_is_gate[s->order[i]])
			put_back(s->order[i], s->value[s->order[i]]);
	for (u32 i = s->n; i-- > 0;)
		if (slot_is_gate[s->order[i]])
			put_back(s->order[i], s->value[s->order[i]]);
	s->have = 0;
	s->n = 0;
	local_irq_restore(flags);
}

static void restore_call(void *s)
{
	saved_restore_here(s);
}

void saved_restore(int cpu, struct cpu_saved *s)
{
	if (s->n)
		smp_call_function_single(cpu, restore_call, s, 1);
}
