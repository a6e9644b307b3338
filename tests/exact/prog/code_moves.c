/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static
 * Code whose memory is moved, emptied, replaced, doubled, and changed by calls that fail half way.
 */
#include <errno.h>
#include <stdio.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>
#include "code_page.h"

enum {
	RWX = PROT_READ | PROT_WRITE | PROT_EXEC,
	RX = PROT_READ | PROT_EXEC,
	PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS
};

static unsigned char *room(size_t pages, int prot)
{
	return mmap(NULL, pages * 4096, prot, PRIVATE, -1, 0);
}

static unsigned char *code(size_t pages, int value)
{
	unsigned char *p = room(pages, RWX);

	make(p, value);
	if (call(p) != value)
		puts("other code");
	return p;
}

static void moved(void)
{
	unsigned char *p = code(3, 5), *q;

	make(p + 4096, 6);
	printf("%d\n", call(p + 4096));
	q = mremap(p, 3 * 4096, 8 * 4096, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)0x500000000);
	printf("%d %d\n", call(q), call(q + 4096));
	make(q, 7);
	make(q + 5 * 4096, 8);
	printf("%d %d\n", call(q), call(q + 5 * 4096));
	q = mremap(q, 8 * 4096, 4096, 0);
	make(q, 9);
	printf("%d\n", call(q));
	p = mremap(q, 4096, 4096, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
	printf("%d\n", call(p));
	make(q, 10);
	make(p, 11);
	printf("%d %d\n", call(q), call(p));
}

/* The same memory twice: what is written to one is executed in the other. */
static void doubled(void)
{
	unsigned char *p = mmap(NULL, 4096, RWX, MAP_SHARED | MAP_ANONYMOUS, -1, 0), *q;
	int sum = 0;

	make(p, 5);
	sum += call(p);
	q = mremap(p, 0, 4096, MREMAP_MAYMOVE);
	for (int i = 0; i < 10; i++) {
		make(i % 2 ? p : q, i);
		sum += call(p) + call(q);
	}
	printf("%d\n", sum);
}

static void replaced(void)
{
	unsigned char *p = code(1, 5), *data = room(1, PROT_READ | PROT_WRITE);

	make(data, 8);
	mremap(data, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, p);
	mprotect(p, 4096, RX);
	printf("%d\n", call(p));
	mprotect(p, 4096, PROT_READ | PROT_WRITE);
	make(p, 9);
	mprotect(p, 4096, RX);
	printf("%d\n", call(p));
	mmap(p, 4096, RWX, PRIVATE | MAP_FIXED, -1, 0);
	make(p, 10);
	printf("%d\n", call(p));
}

static void emptied(void)
{
	unsigned char *p = code(2, 5);

	madvise(p, 4096, MADV_DONTNEED);
	printf("%d\n", p[0]);
	make(p, 6);
	printf("%d\n", call(p));
	mprotect(p, 4096, RX);
	printf("%d\n", call(p));
	madvise(p, 8192, MADV_DONTNEED);
	mprotect(p, 4096, RWX);
	make(p, 7);
	printf("%d\n", call(p));
}

static void half_way(void)
{
	unsigned char *p = room(3, PROT_READ | PROT_WRITE), *q;

	munmap(p + 4096, 4096);
	make(p, 5);
	mprotect(p, 4096, RX);
	printf("%d\n", call(p));
	printf("%d\n", mprotect(p, 3 * 4096, RWX));
	make(p, 50);
	printf("%d\n", call(p));
	/* a move whose source is not there: the place it was to go to may be gone */
	q = code(1, 6);
	printf("%d\n",
	       mremap(p + 4096, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, q) == MAP_FAILED);
	printf("%d\n",
	       mmap(q, 4096, RX, PRIVATE | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED ? call(q)
										     : -1);
	q = code(1, 7);
	printf("%d\n",
	       mmap(q, 4096, RX, MAP_PRIVATE | MAP_FIXED, 0, 4096 + 1) == MAP_FAILED ? call(q)
										     : -1);
	printf("%d\n", munmap(q + 1, 4096) < 0 ? call(q) : -1);
}

static void read_is_execute(void)
{
	unsigned char *p;
	int sum = 0;

	personality(ADDR_NO_RANDOMIZE | READ_IMPLIES_EXEC);
	p = room(1, PROT_READ | PROT_WRITE);
	for (int i = 0; i < 20; i++) {
		make(p, i);
		sum += call(p);
	}
	personality(ADDR_NO_RANDOMIZE);
	printf("%d\n", sum);
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	moved();
	doubled();
	replaced();
	emptied();
	half_way();
	read_is_execute();
	return 0;
}
