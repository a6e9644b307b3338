/* SPDX-License-Identifier: MIT */
/* See tare/exact.h; tare/x86/now.h has the same function. The exact engine is absent on arm64. */
#ifndef TARE_NOW_H
#define TARE_NOW_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** -1: there is no running count. */
static __inline__ __attribute__((always_inline, no_instrument_function)) int64_t tare_exact_now(
	void)
{
	return -1;
}

#ifdef __cplusplus
}
#endif
#endif
