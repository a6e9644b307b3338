/* SPDX-License-Identifier: MIT */
/*
 * Loops in which only one instruction can cause an event, and all others are padding: so the
 * distance of a sample after it is known. One implementation per architecture.
 */
#ifndef ARCH_SKID_H
#define ARCH_SKID_H

#include <stddef.h>
#include <stdint.h>

enum skid_which { SKID_LOADS, SKID_BRANCHES, SKID_LOOPS };

/*
 * Straight code, as runs of instructions of the same length, ended by a run of 0; the last
 * instruction jumps to the first.
 */
struct skid_loop {
	const unsigned char *begin;
	size_t cause; /* index of the instruction, from 0 */
	struct {
		uint32_t n, bytes; /* `n` instructions of `bytes` bytes */
	} run[8];
};

const struct skid_loop *skid_loop(enum skid_which which);

/* Reads 8 bytes at `address`, then at address + step, ... */
void skid_loads(uint64_t turns, const void *address, uint64_t step);
void skid_branches(uint64_t turns);

#endif
