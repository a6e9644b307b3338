/* SPDX-License-Identifier: MIT */
/*
 * The step of a clock in ticks: virtual machines and some processors have a clock that stays
 * constant for 26 ticks, or for 24.46 (in whole ticks: 24 or 25), and then jumps.
 */
#ifndef BASE_CLOCK_STEP_H
#define BASE_CLOCK_STEP_H

#include <stddef.h>
#include <stdint.h>

/*
 * For a clock that `read` reads, in ticks; takes a few hundred microseconds. 1 if readings differ
 * by arbitrary amounts, also if the step is below 4 and not a whole number; 0 if the clock does not
 * advance. A reading may be off by a tick, in addition to its rounding.
 */
double clock_step(uint64_t (*read)(void *data), void *data);

/*
 * The largest step that divides all `n` differences of readings, up to rounding; at least
 * their common divisor. So it is never less than the clock's own step, and more only if there are
 * few differences. Sorts them; ignores 0 and values above CLOCK_STEP_FAR. 0: none remain.
 */
enum { CLOCK_STEP_FAR = 1 << 20 };
double clock_step_of(uint64_t *difference, size_t n);

#endif
