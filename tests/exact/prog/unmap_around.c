/* SPDX-License-Identifier: MIT */
/*
 * Calls over ranges in which natively little or nothing is mapped, and with the counter some of its
 * own: the jump table below 2 GiB, tables, the shared state. exact: build=dynamic
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include "code_page.h"

static char *const low = (char *)0x10000, *const table = (char *)0x7ff00000;

static void say(const char *what, long ret)
{
	printf("%s: %ld, %d\n", what, ret, ret == -1 ? errno : 0);
	errno = 0;
}

static char *map(char *at, unsigned long size)
{
	return mmap(at, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

/*
 * So many blocks that tables become larger, and the engine's memory is in other places than at the
 * start.
 */
static void run_much(void)
{
	enum { JUMPS = 20000 /* a multiple of 32 */, SIZE = JUMPS * 2 + 1 };
	unsigned char *code = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);

	make_many(code, code + 2 * JUMPS, 0xeb, 0); /* each to the next */
	code[SIZE - 1] = 0xc3;
	mprotect(code, SIZE, PROT_READ | PROT_EXEC);
	call(code);
}

int main(void)
{
	char *near = map(table - 8192, 8192), *above = map(table + 0x80000, 4096);
	unsigned char core;

	run_much();
	/*
	 * For a range with a hole, madvise() applies to the memory before and after the hole,
	 * mprotect() only to the memory before it.
	 */
	*near = *above = 1;
	say("advise", madvise(near, 0x90000, MADV_DONTNEED));
	printf("%d %d\n", *near, *above);
	say("advise misaligned", madvise(near + 1, 0x90000, MADV_DONTNEED));
	say("advise nonsense", madvise(near, 0x90000, 12345));
	say("advise nothing", madvise(table, 4096, MADV_DONTNEED));
	say("protect", mprotect(near, 0x90000, PROT_READ));
	say("protect nothing", mprotect(table + 4096, 4096, PROT_NONE));
	say("move", mremap(near, 0x90000, 0x90000, 0) == MAP_FAILED ? -1 : 0);
	say("move nothing", mremap(table, 4096, 8192, MREMAP_MAYMOVE) == MAP_FAILED ? -1 : 0);
	say("unmap misaligned", munmap(low + 1, 0x7fff0000));
	say("unmap none", munmap(table, 0));
	say("unmap what there cannot be", munmap(table - 4096, 0xffffffffff000000));
	say("still there", mincore(near, 8192, &core));
	say("unmap", munmap(near, 0x90000));
	say("gone", mincore(near, 4096, &core));
	say("gone", mincore(above, 4096, &core));
	map(low, 4096);
	say("unmap the most", munmap(low, 0x7fff0000));
	say("gone", mincore(low, 4096, &core));
	for (unsigned long at = 0x10000; at < 0x7fff0000; at += 0x10000000)
		if (munmap((char *)at, 0x10000000))
			say("in pieces", -1);
	/* Above the program's heap, below its libraries. */
	say("unmap between", munmap((char *)0x557000000000, 0x200000000000));
	say("protect between", mprotect((char *)0x557000000000, 0x200000000000, PROT_NONE));
	/* The largest power of two that finds room. */
	say("map much",
	    mmap(NULL, 1ul << 46, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) ==
			    MAP_FAILED
		    ? -1
		    : 0);
	puts("on");
	return 0;
}
