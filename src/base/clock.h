/* SPDX-License-Identifier: MIT */
/* The time that every part of tare measures by: CLOCK_MONOTONIC, as an unsigned number. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds since a fixed point in the past. For signal handlers, too. */
uint64_t clock_now_ns(void);

#endif
