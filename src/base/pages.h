/* SPDX-License-Identifier: MIT */
/*
 * Memory outside the heap, for code that runs inside a counted program: the program's own heap must
 * have the same layout as without it, in each run, in whatever order its threads run. Each
 * allocation is a mapping of its own.
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

/* Zeroed; NULL with errno. One system call, and a page fault for each page that is used. */
static inline void *pages_new(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/*
 * The same, but every child process finds it zeroed, whether it was created by fork() or by a
 * direct system call. Before Linux 4.14 it is ordinary memory.
 */
static inline void *pages_new_wiped(size_t bytes)
{
	void *p = pages_new(bytes);

	if (p)
		madvise(p, bytes, MADV_WIPEONFORK);
	return p;
}

/* p: NULL, or a pages_new() result of that size. Preserves errno. */
static inline void pages_free(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes);
}

#endif
