/* SPDX-License-Identifier: MIT */
/* Exactly 2 * rounds instructions; at least one round. */
#ifndef LOOP_H
#define LOOP_H

#include <stdint.h>

enum { LOOP_PROGRAM_AROUND = 4 }; /* instructions of loop.S outside its loop */

static inline __attribute__((always_inline)) void loop(uint64_t rounds)
{
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
}

/* Exactly LONG_ROUND * rounds: an emulator runs straight code faster than branches. */
enum { LONG_ROUND = 400 };

static inline __attribute__((always_inline)) void long_loop(uint64_t rounds)
{
	__asm__ volatile("1: .rept 398\n\tnop\n\t.endr\n\tdec %0\n\tjnz 1b"
			 : "+r"(rounds)
			 :
			 : "cc");
}

#endif
