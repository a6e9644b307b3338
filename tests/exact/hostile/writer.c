/* SPDX-License-Identifier: MIT */
/*
 * Looks for mappings that are not its own and writes into each writable page of them. The program
 * may fail; its counter must not hang, nor report a wrong count.
 */
#include <stdio.h>
#include <string.h>
#include "maps_with_engine.h"

int main(void)
{
	static char lines[512][256];
	int n = 0;
	FILE *f = maps_with_engine();

	while (n < 512 && fgets(lines[n], sizeof(lines[n]), f))
		n++;
	for (int i = 0; i < n; i++) {
		unsigned long from, to;
		char how[8];

		if (sscanf(lines[i], "%lx-%lx %7s", &from, &to, how) != 3 || how[1] != 'w' ||
		    strstr(lines[i], "writer") || strstr(lines[i], "[stack]") ||
		    strstr(lines[i], "[heap]") || strstr(lines[i], ".so") || to - from > 1ul << 32)
			continue;
		for (unsigned long at = from; at < to; at += 4096)
			for (int k = 0; k < 4096; k += 8)
				*(volatile unsigned long *)(at + (unsigned)k) = 0x4141414141414141;
	}
	puts("done");
	return 0;
}
