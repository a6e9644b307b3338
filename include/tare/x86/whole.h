/* SPDX-License-Identifier: MIT */
/*
 * Sums in memory of the calling thread's own that its signal handlers find as they were before or after, never in between.
 * Other threads may not write there: nothing is locked. Installed for tare/region.h; tare/arm64/whole.h has the
 * same functions.
 *
 * A signal comes between two instructions, and each of these is one.
 */
#ifndef TARE_WHOLE_H
#define TARE_WHOLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Add n to *p. Returns what was there. */
static __inline__ __attribute__((always_inline, no_instrument_function)) uint64_t tare_whole_fetch_add(uint64_t *p, uint64_t n)
{
	__asm__ volatile("{xaddq %0, %1|xadd %1, %0}" : "+r"(n), "+m"(*p) : : "cc", "memory");
	return n;
}

/** *p was `was` and is now was + held: make it was + by. A handler may have changed it meanwhile, if it changed it back. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_whole_let_go(uint64_t *p, uint64_t was, uint64_t held,
												uint64_t by)
{
	(void)was;
	__asm__ volatile("{addq %1, %0|add %0, %1}" : "+m"(*p) : "er"(by - held) : "cc", "memory");
}

/** *p was `was`, and `now` is was + n: make it that. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_whole_step(uint64_t *p, uint64_t now, uint64_t n)
{
	(void)now;
	__asm__ volatile("{addq %1, %0|add %0, %1}" : "+m"(*p) : "r"(n) : "cc", "memory");
}

#ifdef __cplusplus
}
#endif
#endif
