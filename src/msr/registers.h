/* SPDX-License-Identifier: MIT */
/*
 * Registers of CPUs, read and written in batches, through whichever way there is: tare's kernel module, msr-safe, or
 * the kernel's own /dev/cpu/N/msr. A batch runs in order on one CPU; with the module in one go, interrupts off.
 *
 * Writes go by one list (msr/table.h), whatever the way: a batch with one operation that is not allowed runs not at
 * all, and each operation's `err` says why.
 */
#ifndef MSR_REGISTERS_H
#define MSR_REGISTERS_H

#include "base/cpus.h"
#include "msr/table.h"

struct registers;

struct registers_options {
	const char *via;  /* "module", "msr-safe", "msr"; NULL: the first of them that is there */
	const char *root; /* of devices; NULL: /dev */
	unsigned maker;	  /* of the CPU, as msr/table.h has it */
	bool write;	  /* batches may write */
};

/* Time stamps around a batch, taken on its CPU; 0 where the way has none. */
struct registers_span {
	uint64_t tsc_first, tsc_last;
};

/* -ENOENT: no way is there; -EACCES, -EPERM: not for this user, or locked down. Says what to do. */
int registers_open(struct registers **out, const struct registers_options *opt, struct tare_error *err);
const char *registers_via(const struct registers *r);
/* What was written is put back when it is closed, also after kill -9; and nobody else has the counters meanwhile. */
bool registers_guarded(const struct registers *r);

/*
 * Run n operations on `cpu`; results stand in op[].value and op[].err (0 or a negative errno). Returns 0; -EACCES: not
 * all are allowed, none ran (err of those that are: -ECANCELED); -EIO: one of them faulted, those behind it did not run (err -ECANCELED); -ENXIO: that CPU is off;
 * -EBUSY: somebody else has the counters; -ESTALE: the CPU was off since, and what was written there is gone.
 * `span` may be NULL. Costs one system call by the module and msr-safe, else one per operation.
 */
int registers_run(struct registers *r, int cpu, struct tare_msr_op *op, size_t n, struct registers_span *span,
		  struct tare_error *err);
/*
 * The same on every CPU of the set at the same time; op[k * n] is the first of the kth CPU's, likewise span[k] (may be NULL).
 * The first failure is returned; the others ran all the same.
 */
int registers_run_all(struct registers *r, const struct cpus *on, struct tare_msr_op *op, size_t n,
		      struct registers_span *span, struct tare_error *err);
/* Whether a counter of that CPU can be set to all that it holds (MSR_FULL_WIDTH beyond its register): read from it. */
bool registers_full_width(struct registers *r, int cpu);
void registers_close(struct registers *r);

/* For the ways themselves: one row each. */
struct way {
	const char *name, *about;
	int (*open)(struct registers *r, struct tare_error *err); /* -ENOENT: it is not there */
	/* Everything was checked. Sets op[].err; a negative errno without words for what all ways have in common. */
	int (*run)(struct registers *r, int cpu, struct tare_msr_op *op, size_t n, struct registers_span *span,
		   struct tare_error *err);
	void (*close)(struct registers *r);
	bool guarded;
};

struct registers {
	const struct way *way;
	char root[256];
	unsigned maker;
	bool write;
	int fd;	 /* of the one device; -1 */
	int *by_cpu; /* of each CPU's own */
};

/* One of them was refused: the others did not run. */
void registers_none_ran(struct tare_msr_op *op, size_t n);

enum { REGISTERS_CPUS_MAX = 8192 };

extern const struct way way_module, way_msr_safe, way_msr;

#endif
