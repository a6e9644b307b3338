/* SPDX-License-Identifier: MIT */
/*
 * The load that reads the exact engine's running count; see tare/exact.h. tare/arm64/now.h has
 * the same function.
 */
#ifndef TARE_NOW_H
#define TARE_NOW_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Instructions of the calling thread up to this load, or -1: see tare/exact.h.
 *
 * Without the engine, it loads the -1 next to it. The engine recognises the load by its three
 * redundant prefixes and by the words after the -1, and loads the thread's count instead.
 */
static __inline__ __attribute__((always_inline, no_instrument_function)) int64_t tare_exact_now(
	void)
{
	int64_t now;

	__asm__ volatile(".pushsection .rodata.tare_exact, \"aM\", @progbits, 32\n\t"
			 ".p2align 3\n"
			 "770:\t.quad -1\n\t"
			 ".ascii \"tare exact instructions:\"\n\t"
			 ".popsection\n\t"
			 ".byte 0x3e, 0x3e, 0x3e\n\t"
			 "{movq 770b(%%rip), %0|mov %0, qword ptr 770b[rip]}"
			 : "=r"(now)
			 :
			 : "memory");
	return now;
}

#ifdef __cplusplus
}
#endif
#endif
