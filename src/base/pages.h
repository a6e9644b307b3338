/* SPDX-License-Identifier: MIT */
/*
 * Memory that is no part of the heap, for what runs within a program that is counted: its own heap must lie as it would
 * without, and alike in each run, whichever of its threads came first. Each piece is a mapping of its own.
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

/* Zeroed; NULL with errno. One system call, and a fault for each page that is used. */
static inline void *pages_new(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* The same, which every child process finds empty, whether it was made by fork() or by a system call that nobody else is told of.
 * Linux before 4.14 has no such memory: there it is as any. */
static inline void *pages_new_wiped(size_t bytes)
{
	void *p = pages_new(bytes);

	if (p)
		madvise(p, bytes, MADV_WIPEONFORK);
	return p;
}

/* p: NULL, or what pages_new() gave for so many bytes. errno stays as it is. */
static inline void pages_free(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes);
}

#endif
