/* SPDX-License-Identifier: MIT */
/* What the kernel puts onto a program's stack before its first instruction, and what lies at an address of it. */
#ifndef DIVERGE_FIRST_STACK_H
#define DIVERGE_FIRST_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum first_stack_part {
	FIRST_STACK_UNKNOWN,
	FIRST_STACK_ARGUMENT, /* number `number`, from 0 */
	FIRST_STACK_VARIABLE, /* of the environment, called `name` ("" where that is not known) */
	FIRST_STACK_RANDOM,   /* the 16 bytes of AT_RANDOM */
	FIRST_STACK_VECTOR,   /* the auxiliary vector: entry number `number`, as AT_... in linux/auxvec.h */
	FIRST_STACK_POINTERS, /* how many arguments there are, and where they and the environment lie */
	FIRST_STACK_NAME,     /* by which it was executed */
};

struct first_stack_place {
	enum first_stack_part part;
	unsigned number;
	char name[64]; /* cut to fit */
};

/*
 * `stack`: `n` bytes from `at` on, which is where the stack pointer is at the first instruction; 64-bit, little-endian. False, and
 * `out` is unknown: they are no such stack, or nothing of the kernel's is at `address`. Pure; linear in n.
 * Source: Linux, fs/binfmt_elf.c, create_elf_tables(), and fs/exec.c; the x86-64 ABI, "Initial Stack and Register State".
 */
bool first_stack_find(const uint8_t *stack, size_t n, uint64_t at, uint64_t address, struct first_stack_place *out);

#endif
