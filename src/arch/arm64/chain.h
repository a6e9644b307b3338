/* SPDX-License-Identifier: MIT */
/*
 * A chain of additions with a known time. src/arch/x86/chain.h has the same function, and explains
 * why the operands are registers. Source: Arm, software optimization guides of Cortex-A57 to A720
 * and Neoverse N1 to V2, "ALU, basic": latency 1.
 */
#ifndef ARCH_CHAIN_H
#define ARCH_CHAIN_H

#include <stdint.h>

enum { CHAIN_ADDS = 256 }; /* per round */

/* rounds >= 1 */
static inline void chain_run(uint64_t rounds)
{
	uint64_t sum = 1, one = 3;

	__asm__ volatile(".balign 64\n1:\n\t.rept 256\n\tadd %0, %0, %2\n\t.endr\n\t"
			 "sub %1, %1, #1\n\tcbnz %1, 1b"
			 : "+&r"(sum), "+&r"(rounds)
			 : "r"(one));
}

#endif
