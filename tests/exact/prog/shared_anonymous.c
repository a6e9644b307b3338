/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static compared=0
 * Code in anonymous shared memory, executed where it is written, or made executable and writable
 * alternately. Each place is rewritten after it ran. The engine compares none of it with what it
 * translated.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "code_page.h"

enum {
	PAGE = 4096,
	PAGES = 4,
	TURNS = 8,
	CALLS = 20,
	ALL = PROT_READ | PROT_WRITE | PROT_EXEC,
	MANY = 100
};

static unsigned char *map(int prot)
{
	return mmap(NULL, PAGES * PAGE, prot, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static int calls(const unsigned char *at)
{
	int sum = 0;

	for (int i = 0; i < CALLS; i++)
		sum += call(at);
	return sum;
}

static int sum_of(unsigned char *at)
{
	int sum = 0;

	for (int i = 0; i < TURNS; i++) {
		make(at, i);
		sum += calls(at);
	}
	return sum;
}

static int by_turns(unsigned char *at)
{
	unsigned char *page = (unsigned char *)((unsigned long)at & -PAGE);
	int sum = 0;

	for (int i = 0; i < TURNS; i++) {
		mprotect(page, 2 * PAGE, PROT_READ | PROT_WRITE);
		make(at, i);
		mprotect(page, 2 * PAGE, PROT_READ | PROT_EXEC);
		sum += calls(at);
	}
	return sum;
}

int main(void)
{
	unsigned char *x = map(ALL), *y = map(PROT_READ | PROT_WRITE), code[6];
	int ends[2], sum = 0;

	printf("%d %d %d\n", sum_of(x), sum_of(x + PAGE), sum_of(x + PAGE - 3));
	printf("%d %d %d\n", by_turns(y), by_turns(y + PAGE), by_turns(y + PAGE - 3));
	make(code, 12);
	if (pipe(ends) < 0 || write(ends[1], code, sizeof code) < 0 ||
	    read(ends[0], x, sizeof code) < 0)
		return 9;
	printf("%d\n", calls(x));
	munmap(x + PAGE, PAGE);
	printf("%d %d\n", sum_of(x), sum_of(x + 2 * PAGE));
	for (int i = 0; i < MANY; i++) { /* more than are followed at a time */
		x = map(ALL);
		make(x, i);
		sum += call(x);
		munmap(x, PAGES * PAGE);
	}
	x = map(ALL);
	printf("%d %d\n", sum, sum_of(x));
	madvise(x, PAGE, MADV_REMOVE);
	printf("%d\n", sum_of(x));
	return 0;
}
