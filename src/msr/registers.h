/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes registers of CPUs in batches, through one of several ways: tare's kernel module,
 * msr-safe, or the kernel's own /dev/cpu/N/msr. A batch runs in order on one CPU; with the module
 * without interruption, with interrupts disabled.
 *
 * Writes are checked against one list (msr/table.h), for every way: if one operation of a batch is
 * not allowed, none runs, and each operation's `err` has the reason.
 */
#ifndef MSR_REGISTERS_H
#define MSR_REGISTERS_H

#include "base/cpus.h"
#include "msr/table.h"

struct registers;

struct registers_options {
	const char *via;  /* "module", "msr-safe", "msr"; NULL: the first available one */
	const char *root; /* directory of the devices; NULL: /dev */
	unsigned maker;   /* of the CPU, as in msr/table.h */
	bool write;       /* allow writes */
};

/* Time stamps before and after a batch, taken on its CPU; 0 if the way has none. */
struct registers_span {
	uint64_t tsc_first, tsc_last;
};

/*
 * -ENOENT: no way exists; -EACCES, -EPERM: not permitted for this user, or locked down. The error
 * has a remedy.
 */
int registers_open(struct registers **out, const struct registers_options *opt,
		   struct tare_error *err);
const char *registers_via(const struct registers *r);
/*
 * Are written registers restored on close, also after kill -9, and are the counters reserved
 * meanwhile?
 */
bool registers_guarded(const struct registers *r);

/*
 * Run n operations on `cpu`; results are in op[].value and op[].err (0 or a negative errno).
 * Returns 0; -EACCES: not all are allowed, none ran (err of the allowed ones: -ECANCELED); -EIO:
 * one of them faulted, those after it did not run (err -ECANCELED); -ENXIO: that CPU is offline;
 * -EBUSY: another program has the counters; -ESTALE: the CPU was offline meanwhile, and the written
 * values are lost. `span` may be NULL. Costs one system call with the module or msr-safe, otherwise
 * one per operation.
 */
int registers_run(struct registers *r, int cpu, struct tare_msr_op *op, size_t n,
		  struct registers_span *span, struct tare_error *err);
/*
 * The same on all CPUs of the set at the same time; op[k * n] is the first of the kth CPU's,
 * likewise span[k] (may be NULL). Returns the first failure; the others still ran.
 */
int registers_run_all(struct registers *r, const struct cpus *on, struct tare_msr_op *op, size_t n,
		      struct registers_span *span, struct tare_error *err);
/*
 * Can a counter of that CPU be set to its full width (MSR_FULL_WIDTH beyond its register)? Read
 * from the CPU.
 */
bool registers_full_width(struct registers *r, int cpu);
void registers_close(struct registers *r);

/* A way of access; one row each. */
struct way {
	const char *name, *about;
	int (*open)(struct registers *r, struct tare_error *err); /* -ENOENT: it does not exist */
	/*
	 * Called after all checks. Sets op[].err; a negative errno, without a message for errors
	 * that all ways have in common.
	 */
	int (*run)(struct registers *r, int cpu, struct tare_msr_op *op, size_t n,
		   struct registers_span *span, struct tare_error *err);
	void (*close)(struct registers *r);
	bool guarded;
};

struct registers {
	const struct way *way;
	char root[256];
	unsigned maker;
	bool write;
	int fd;      /* of a single device; -1 */
	int *by_cpu; /* of one device per CPU */
};

/* One operation was refused: mark the others as not run. */
void registers_none_ran(struct tare_msr_op *op, size_t n);

enum { REGISTERS_CPUS_MAX = 8192 };

extern const struct way way_module, way_msr_safe, way_msr;

#endif
