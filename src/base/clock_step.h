/* SPDX-License-Identifier: MIT */
/*
 * By how many ticks a clock moves on at a time: virtual machines and some processors show one that
 * stands still for 26 ticks, or for 24.46 (whole ticks of it: 24 or 25), and then jumps.
 */
#ifndef BASE_CLOCK_STEP_H
#define BASE_CLOCK_STEP_H

#include <stddef.h>
#include <stdint.h>

/*
 * Of a clock that `read` reads, in ticks; costs a few hundred microseconds. It is 1 where readings
 * lie apart by anything, also where the step is below 4 and no whole number; 0 where the clock
 * stands still. A reading may be off by a tick, besides its rounding.
 */
double clock_step(uint64_t (*read)(void *data), void *data);

/*
 * The largest step of which all `n` differences of readings are multiples, but for their roundings;
 * at least what divides all of them. So it is never less than the clock's own, and more only where
 * there are few. They are sorted; 0 and those above CLOCK_STEP_FAR are left out. 0: none is left.
 */
enum { CLOCK_STEP_FAR = 1 << 20 };
double clock_step_of(uint64_t *difference, size_t n);

#endif
