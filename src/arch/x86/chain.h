/* SPDX-License-Identifier: MIT */
/*
 * A chain of additions with a known time. src/arch/arm64/chain.h has the same function.
 *
 * Each addition depends on the one before: one cycle each. Both operands are registers, as some
 * cores add small constants during register renaming, with zero latency. The counting of rounds
 * does not wait for the chain. Source: uops.info, "ADD (R64, R64)", latency 1 from Conroe to Alder
 * Lake and from Zen to Zen 4; Agner Fog, "Instruction tables", for others.
 */
#ifndef ARCH_CHAIN_H
#define ARCH_CHAIN_H

#include <stdint.h>

enum { CHAIN_ADDS = 256 }; /* per round */

/* rounds >= 1 */
static inline void chain_run(uint64_t rounds)
{
	uint64_t sum = 1, one = 3;

	__asm__ volatile(".balign 64\n1:\n\t.rept 256\n\tadd %2, %0\n\t.endr\n\tdec %1\n\tjnz 1b"
			 : "+&r"(sum), "+&r"(rounds)
			 : "r"(one)
			 : "cc");
}

#endif
