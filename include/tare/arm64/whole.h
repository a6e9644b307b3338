/* SPDX-License-Identifier: MIT */
/*
 * Sums in memory of the calling thread's own that its signal handlers find as they were before or after, never in between.
 * Other threads may not write there: nothing is locked. Installed for tare/region.h; tare/x86/whole.h has the same
 * functions.
 */
#ifndef TARE_WHOLE_H
#define TARE_WHOLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Add n to *p. Returns what was there. A signal between load and store makes the store fail: its return clears the
 *  exclusive monitor (Arm ARM, "Exclusive access instructions and the monitors", "ERET"). */
static __inline__ __attribute__((always_inline, no_instrument_function)) uint64_t tare_whole_fetch_add(uint64_t *p, uint64_t n)
{
	uint64_t was, sum;
	uint32_t failed;

	__asm__ volatile("1:\tldxr %0, %3\n\tadd %1, %0, %4\n\tstxr %w2, %1, %3\n\tcbnz %w2, 1b"
			 : "=&r"(was), "=&r"(sum), "=&r"(failed), "+Q"(*p)
			 : "rI"(n)
			 : "memory");
	return was;
}

/** *p was `was` and is now was + held: make it was + by. A handler may have changed it meanwhile, if it changed it back. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_whole_let_go(uint64_t *p, uint64_t was, uint64_t held,
												uint64_t by)
{
	(void)held;
	*(volatile uint64_t *)p = was + by;
}

/** *p was `was`, and `now` is was + n: make it that. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_whole_step(uint64_t *p, uint64_t now, uint64_t n)
{
	(void)n;
	*p = now;
}

#ifdef __cplusplus
}
#endif
#endif
