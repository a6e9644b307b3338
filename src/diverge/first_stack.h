/* SPDX-License-Identifier: MIT */
/* The kernel's data on a program's initial stack, and which entry is at an address. */
#ifndef DIVERGE_FIRST_STACK_H
#define DIVERGE_FIRST_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum first_stack_part {
	FIRST_STACK_UNKNOWN,
	FIRST_STACK_ARGUMENT, /* number `number`, from 0 */
	FIRST_STACK_VARIABLE, /* environment variable `name` ("" if unknown) */
	FIRST_STACK_RANDOM,   /* the 16 bytes of AT_RANDOM */
	/* the auxiliary vector: entry number `number`, as AT_... in linux/auxvec.h */
	FIRST_STACK_VECTOR,
	/* the argument count, and the pointers to arguments and environment */
	FIRST_STACK_POINTERS,
	FIRST_STACK_NAME, /* the file name passed to execve */
};

struct first_stack_place {
	enum first_stack_part part;
	unsigned number;
	char name[64]; /* truncated to fit */
};

/*
 * `stack`: `n` bytes from `at` on, the stack pointer at the first instruction; 64-bit, little-
 * endian. False, with `out` undefined: it is not such a stack, or the kernel put nothing at
 * `address`. Pure; linear in n. Source: Linux, fs/binfmt_elf.c, create_elf_tables(), and
 * fs/exec.c; the x86-64 ABI, "Initial Stack and Register State".
 */
bool first_stack_find(const uint8_t *stack, size_t n, uint64_t at, uint64_t address,
		      struct first_stack_place *out);

#endif
