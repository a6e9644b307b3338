/* SPDX-License-Identifier: MIT */
/*
 * The classes of one x86-64 instruction, from the decoder's operand table. Shares no code with the
 * exact engine, so that an error in either shows as a difference.
 */
#ifndef TESTS_EXACT_CLASSIFY_H
#define TESTS_EXACT_CLASSIFY_H

#include <stdbool.h>
#include <stdint.h>

enum class {
	C_INSTRUCTIONS,
	C_BRANCHES,
	C_CONDITIONAL,
	C_TAKEN,
	C_CALLS,
	C_RETURNS,
	C_INDIRECT,
	C_LOADS,
	C_STORES,
	C_ATOMICS,
	C_REP,
	C_SYSCALLS,
	C_X87,
	C_MMX,
	C_VEC128,
	C_VEC256,
	C_VEC512,
	C_ACCESSES,
	C_COUNT
};

extern const char *const class_names[C_COUNT];

struct insn {
	uint64_t at;     /* its address */
	uint8_t length;  /* 0: the bytes do not decode */
	bool rep_string; /* stops once per iteration when stepped */
	bool syscall;
	bool trap;        /* int3, int n: reported with RIP after it */
	bool cpuid;       /* a hypervisor may lose the trap after it */
	bool holds_traps; /* mov ss: the next instruction is executed before the trap */
	/* the kernel emulates it if the processor has UMIP: it does not retire */
	bool umip;
	bool conditional;      /* a branch; the caller finds out whether it is taken */
	bool reads_now;        /* the load of a running count, see watch.h; set by the caller */
	bool to_next;          /* a conditional branch to the next instruction */
	bool straight;         /* if it retires, the next instruction follows it in memory */
	uint16_t mnemonic;     /* ZydisMnemonic */
	uint8_t adds[C_COUNT]; /* what it adds to each class; without C_TAKEN if conditional */
};

/* Decode the first instruction of the `size` bytes at address `at`. */
struct insn classify(uint64_t at, const uint8_t *bytes, unsigned size);

/* Is this conditional branch taken, given the flags and rcx before it? */
bool branch_holds(const struct insn *in, uint64_t rflags, uint64_t rcx);

#endif
