/* SPDX-License-Identifier: MIT */
/*
 * Short assembly loops with a known number of retired instructions of each class. On x86-64 the
 * exact engine counts exactly these numbers, on arm64 the emulated PMU does
 * (src/arch/kernels_test.c, tests/guest).
 */
#ifndef ARCH_KERNELS_H
#define ARCH_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first ones are the exact engine's classes of those names (src/exact/classes.h). */
enum work_class {
	WORK_INSTRUCTIONS,
	WORK_BRANCHES,
	WORK_CONDITIONAL,
	WORK_TAKEN, /* of all branches: also jumps, calls and returns */
	WORK_CALLS,
	WORK_RETURNS,
	WORK_INDIRECT, /* without returns */
	WORK_LOADS,
	WORK_STORES,
	WORK_ATOMICS,
	WORK_REP,
	WORK_SYSCALLS,
	WORK_X87,
	WORK_VECTOR,  /* instructions that name a vector register; also scalar floating point */
	WORK_SCALAR,  /* scalar floating-point arithmetic */
	WORK_PACKED,  /* floating-point arithmetic on two values */
	WORK_DIVIDES, /* integer divisions */
	WORK_FAULTS,  /* page faults; no kernel in this list causes one */
	WORK_CLASSES,
};

extern const char *const work_class_names[WORK_CLASSES];

struct kernel {
	const char *name;
	const char *about; /* a short description */
	/*
	 * Runs `turns` (> 0) turns. `memory`: KERNEL_MEMORY bytes, page-aligned, all touched
	 * before. Retires once[c] + turns * per_turn[c] of each class, including its own return,
	 * but not the call.
	 */
	void (*run)(uint64_t turns, void *memory);
	int64_t once[WORK_CLASSES], per_turn[WORK_CLASSES];
	uint32_t unsure; /* one bit per class: processors differ in what they count for it */
	/* another thread writes to the first line of the memory at the same time */
	bool contended;
};

enum { KERNEL_MEMORY = 8 << 20, KERNELS_MOST = 24 };

/*
 * The loop of cpu_loop() is first. NULL after the last; kernels that this CPU cannot execute are
 * skipped.
 */
const struct kernel *kernel_at(size_t i);
size_t kernel_count(void);

/* Number of retired operations of a class for that many turns. */
static inline uint64_t kernel_retires(const struct kernel *k, enum work_class c, uint64_t turns)
{
	return (uint64_t)(k->once[c] + (int64_t)turns * k->per_turn[c]);
}

#endif
