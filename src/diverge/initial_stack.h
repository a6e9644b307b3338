/* SPDX-License-Identifier: MIT */
/* The kernel's data on a program's initial stack, and which entry is at an address. */
#ifndef DIVERGE_INITIAL_STACK_H
#define DIVERGE_INITIAL_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum initial_stack_part {
	INITIAL_STACK_UNKNOWN,
	INITIAL_STACK_ARGUMENT, /* number `number`, from 0 */
	INITIAL_STACK_VARIABLE, /* environment variable `name` ("" if unknown) */
	INITIAL_STACK_RANDOM,   /* the 16 bytes of AT_RANDOM */
	/* the auxiliary vector: entry number `number`, as AT_... in linux/auxvec.h */
	INITIAL_STACK_VECTOR,
	/* the argument count, and the pointers to arguments and environment */
	INITIAL_STACK_POINTERS,
	INITIAL_STACK_NAME, /* the file name passed to execve */
};

struct initial_stack_place {
	enum initial_stack_part part;
	unsigned number;
	char name[64]; /* truncated to fit */
};

/*
 * `stack`: `n` bytes from `at` on, the stack pointer at the first instruction; 64-bit, little-
 * endian. False, with `out` undefined: it is not such a stack, or the kernel put nothing at
 * `address`. Pure; linear in n. Source: Linux, fs/binfmt_elf.c, create_elf_tables(), and
 * fs/exec.c; the x86-64 ABI, "Initial Stack and Register State".
 */
bool initial_stack_find(const uint8_t *stack, size_t n, uint64_t at, uint64_t address,
			struct initial_stack_place *out);

#endif
