/* SPDX-License-Identifier: MIT */
/*
 * Reads memory that a hostile program may write at the same time: each word once, each record into
 * a private copy. So the value that was checked is the value that is used.
 */
#ifndef EXACT_ONCE_H
#define EXACT_ONCE_H

#include <stddef.h>

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))

/* Prevents the compiler from reading `from` again instead of the copy. */
static inline void copy_once(void *to, const volatile void *from, size_t n)
{
	__builtin_memcpy(to, (const void *)from, n);
	__asm__ volatile("" : : "r"(to) : "memory");
}

/* Terminate a copied string within its array. */
#define END_TEXT(array) ((array)[sizeof(array) - 1] = 0)

#endif
