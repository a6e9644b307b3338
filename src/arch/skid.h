/* SPDX-License-Identifier: MIT */
/*
 * Loops in which one instruction alone can cause an event, and everything else is padding: how far behind it a sample lies is then
 * known. One implementation per architecture.
 */
#ifndef ARCH_SKID_H
#define ARCH_SKID_H

#include <stddef.h>
#include <stdint.h>

enum skid_which { SKID_LOADS, SKID_BRANCHES, SKID_LOOPS };

/* Straight code, as runs of instructions of one length, ended by a run of 0; the last one jumps to the first. */
struct skid_loop {
	const unsigned char *begin;
	size_t cause; /* which instruction, from 0 */
	struct {
		uint32_t n, bytes; /* so many instructions of so many bytes */
	} run[8];
};

const struct skid_loop *skid_loop(enum skid_which which);

/* Reads 8 bytes at `address`, then at address + step, ... */
void skid_loads(uint64_t turns, const void *address, uint64_t step);
void skid_branches(uint64_t turns);

#endif
