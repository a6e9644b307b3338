/* SPDX-License-Identifier: MIT */
/*
 * scribble WHAT BYTE: fills the counter's jump table (t), its code near the program's (c) or both
 * (b) with a byte, and continues. Natively neither exists, and it ends normally.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "maps_with_engine.h"

int main(int argc, char **argv)
{
	char what = argc > 1 ? argv[1][0] : 0, line[4096];
	int byte = argc > 2 ? (int)strtol(argv[2], NULL, 16) : 0;
	unsigned long from[64], to[64], n = 0;
	FILE *f = maps_with_engine();
	char how[8];

	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
	while (f && n < 64 && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%lx-%lx %7s", &from[n], &to[n], how) != 3)
			continue;
		if ((from[n] == 0x7ff00000 && what != 'c') ||
		    (!strncmp(how, "rwxp", 4) && what != 't'))
			n++;
	}
	for (unsigned long i = 0; i < n; i++)
		memset((char *)from[i], byte,
		       to[i] - from[i] < 1 << 20 ? to[i] - from[i] : 1 << 20);
	for (volatile int i = 0; i < 1000; i++)
		rand();
	puts("on");
	return 0;
}
