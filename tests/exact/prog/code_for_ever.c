/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static linear=10,20,5000
 * Makes functions, each another one, runs each a few times and writes over it: as many as the
 * argument says. Each has branches, loops and calls, so that whatever leads from one to another is
 * made and undone, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "code_page.h"

enum { ROOM = 1 << 16, BLOCKS = 12, SIZE = 320 };

/* eax = 0: add `seed`, skip or not, and count down some. */
static void generate(unsigned char *p, unsigned seed)
{
	static const unsigned char start[] = { 0xb8, 0, 0, 0, 0 }; /* mov eax, 0 */
	static const unsigned char add[] = {
		0x05, 0, 0, 0, 0, 0xa8, 1, 0x74, 3, 0x83, 0xc0, 7
	}; /* add; test; jz; add */
	static const unsigned char loop[] = {
		0xb9, 3, 0, 0, 0, 0xff, 0xc0, 0xff, 0xc9, 0x75, 0xfa
	}; /* mov ecx, 3; inc; dec; jnz */

	memcpy(p, start, sizeof start);
	p += sizeof start;
	for (int i = 0; i < BLOCKS; i++) {
		memcpy(p, add, sizeof add);
		memcpy(p + 1, &seed, sizeof seed);
		p += sizeof add;
		memcpy(p, loop, sizeof loop);
		p += sizeof loop;
	}
	*p = 0xc3;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	unsigned char *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned sum = 0;

	for (int i = 0; i < n; i++) {
		unsigned char *p = room + i % 100 * SIZE;

		generate(p, (unsigned)i * 2); /* even: as many instructions each */
		for (int k = 0; k < 3; k++)
			sum += (unsigned)call(p);
	}
	for (int i = 0; i < 32; i++, sum <<= 1)
		putchar('0' + (sum >> 31));
	return 0;
}
