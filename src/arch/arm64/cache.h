/* SPDX-License-Identifier: MIT */
/* Flushes memory from all caches. src/arch/x86/cache.h has the same function. */
#ifndef ARCH_CACHE_H
#define ARCH_CACHE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Cleaned and invalidated to the point of coherency. Source: Arm ARM, "DC CIVAC",
 * "CTR_EL0.DminLine".
 */
static inline void cache_flush(const void *at, size_t size)
{
	uint64_t type, line;

	__asm__("mrs %0, ctr_el0" : "=r"(type));
	line = 4ull << (type >> 16 & 15);
	for (uintptr_t p = (uintptr_t)at & ~(line - 1); p < (uintptr_t)at + size; p += line)
		__asm__ volatile("dc civac, %0" : : "r"(p) : "memory");
	__asm__ volatile("dsb ish" : : : "memory");
}

#endif
