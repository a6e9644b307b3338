/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the module. */
#ifndef MODULE_H
#define MODULE_H

#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/xarray.h>
#include "tare_msr.h"

#define MSR_ROW(...)
#include "msr_table.h"

/* ---- table.c ---- */

enum { SLOTS_MAX = 64 }; /* writable registers of one maker */

struct row {
	const char *name;
	u32 number, count, step;
	u32 maker, flags;
	u64 read, write, zero;
};

extern u32 table_maker;         /* of this machine; 0: neither */
extern u32 slot_msr[SLOTS_MAX]; /* the register by which its value is restored */
extern bool slot_is_gate[SLOTS_MAX];
extern bool slot_is_shared[SLOTS_MAX]; /* shared by all threads of a core, on this machine */

int table_init(void);
extern const struct row *const table_rows;
/*
 * The row number of a register that exists on this machine and is not excluded by the parameter
 * `deny`; -1: none.
 */
int table_find(u32 msr, u32 *slot);
/*
 * May rdpmc read the counter with that index: is it on the list, and not denied by any of its
 * register numbers?
 */
bool table_rdpmc(u32 index);

/* ---- reserve.c: the kernel's own book of who has the counters; perf honours it ---- */

int counters_reserve(void);
void counters_release(void);

/* ---- quota.c: memory that the open files of one user keep, TARE_MSR_USER_BYTES at most ---- */

struct quota;

/* For one more file of the calling user; NULL: no memory. */
struct quota *quota_open(void);
void quota_close(struct quota *q);
int quota_charge(struct quota *q, size_t bytes); /* -EDQUOT: over the limit */
void quota_discharge(struct quota *q, size_t bytes);

/* ---- run.c ---- */

/*
 * The values of one CPU's registers before the holder's first write to each. Accessed on that CPU
 * only; the part on shared registers also by the other threads of its core, under a lock.
 */
struct cpu_saved {
	struct cpu_saved **all; /* the holder's, by CPU */
	u64 have;               /* by slot */
	u32 n;
	u8 order[SLOTS_MAX]; /* slots, oldest first */
	u64 value[SLOTS_MAX];
};

struct batch {
	struct mutex lock; /* a prepared batch may be run by two callers at once */
	u32 cpu, n, flags, done;
	u64 tsc_first, tsc_last;
	bool writes, pmu;
	struct cpu_saved *saved; /* for batches with writes */
	struct tare_msr_op op[TARE_MSR_OPS_MAX];
	struct {
		u8 row, slot;
	} found[TARE_MSR_OPS_MAX]; /* one per read or write */
};

void batch_run(struct batch *b);
/* Restore the saved values, on the calling CPU or on another. */
void saved_restore_here(struct cpu_saved *s);
void saved_restore(int cpu, struct cpu_saved *s);

#endif
