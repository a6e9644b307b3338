/* SPDX-License-Identifier: MIT */
/* Flushes memory from all caches. src/arch/arm64/cache.h has the same function. */
#ifndef ARCH_CACHE_H
#define ARCH_CACHE_H

#include <stddef.h>

/*
 * Written back and removed from all levels when this returns. Source: Intel SDM vol. 2, "CLFLUSH";
 * lines of 64 bytes.
 */
static inline void cache_flush(const void *at, size_t size)
{
	for (size_t i = 0; i < size; i += 64)
		__asm__ volatile("clflush (%0)" : : "r"((const char *)at + i) : "memory");
	if (size)
		__asm__ volatile("clflush (%0)" : : "r"((const char *)at + size - 1) : "memory");
	__asm__ volatile("mfence" : : : "memory");
}

#endif
