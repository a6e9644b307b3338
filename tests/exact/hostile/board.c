/* SPDX-License-Identifier: MIT */
/*
 * shared state HOW: unmaps, protects or overwrites the counter's own memory, depending on HOW; with
 * another argument in a child. Natively there is none, and it ends at once.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "maps_with_engine.h"

static char *board(void)
{
	static char line[4096];
	unsigned long from;
	FILE *f = maps_with_engine();

	while (f && fgets(line, sizeof line, f))
		if (strstr(line, "rw-s") && strstr(line, "tare-exact") &&
		    sscanf(line, "%lx", &from) == 1)
			return (char *)from;
	return NULL;
}

int main(int argc, char **argv)
{
	char *b = board(), how = argc > 1 ? argv[1][0] : 0;
	int status;

	if (!b)
		return 0;
	if (argc > 2 && fork())
		return wait(&status) < 0;
	if (how == 'u')
		munmap(b, 4096);
	else if (how == 'p')
		mprotect(b, 4096, PROT_NONE);
	else if (how == 'm')
		mremap(b, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)0x700000000000);
	else if (how == 'f')
		mmap(b, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	else if (how == 'r')
		madvise(b, 4096, MADV_REMOVE);
	else if (how == 'w')
		memset(b, 0xcc, 4096);
	else if (how == 'z')
		memset(b, 0, 4096);
	else if (how == 'a')
		memset(b, 0xff, 0x10000);
	puts("on");
	return 0;
}
