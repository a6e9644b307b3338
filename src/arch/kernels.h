/* SPDX-License-Identifier: MIT */
/*
 * Work of known size: short loops in assembly, of each of which it is written down how many instructions of each class retire.
 * On x86-64 the exact engine agrees with ==, on arm64 the emulated PMU does (src/arch/kernels_test.c, tests/guest).
 */
#ifndef ARCH_KERNELS_H
#define ARCH_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first ones as the exact engine's classes of those names (src/exact/classes.h). */
enum work_class {
	WORK_INSTRUCTIONS,
	WORK_BRANCHES,
	WORK_CONDITIONAL,
	WORK_TAKEN, /* of all branches: jumps, calls and returns too */
	WORK_CALLS,
	WORK_RETURNS,
	WORK_INDIRECT, /* returns not among them */
	WORK_LOADS,
	WORK_STORES,
	WORK_ATOMICS,
	WORK_REP,
	WORK_SYSCALLS,
	WORK_X87,
	WORK_VECTOR, /* name a vector register; scalar floating point too */
	WORK_SCALAR, /* floating-point arithmetic on one value */
	WORK_PACKED, /* on two */
	WORK_DIVIDES, /* integer divisions */
	WORK_FAULTS, /* page faults; no kernel of this list makes one */
	WORK_CLASSES,
};

extern const char *const work_class_names[WORK_CLASSES];

struct kernel {
	const char *name;
	const char *about; /* a few words, for people */
	/*
	 * Does `turns` (> 0) turns. `memory`: KERNEL_MEMORY bytes, aligned to a page, all of them touched before. Retires
	 * once[c] + turns * per_turn[c] of each class, its own return among them, the call not.
	 */
	void (*run)(uint64_t turns, void *memory);
	int64_t once[WORK_CLASSES], per_turn[WORK_CLASSES];
	uint32_t unsure;  /* a bit per class: processors differ in what they count as one here */
	bool contended;	  /* another thread writes to the first line of the memory meanwhile */
};

enum { KERNEL_MEMORY = 8 << 20, KERNELS_MOST = 24 };

/* The loop of cpu_loop() comes first. NULL past the last; those that this CPU cannot execute are left out. */
const struct kernel *kernel_at(size_t i);
size_t kernel_count(void);

/* How many of a class so many turns retire. */
static inline uint64_t kernel_retires(const struct kernel *k, enum work_class c, uint64_t turns)
{
	return (uint64_t)(k->once[c] + (int64_t)turns * k->per_turn[c]);
}

#endif
