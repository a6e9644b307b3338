/* SPDX-License-Identifier: MIT */
/*
 * broken HOW [child]: breaks the counter's own working memory, so that the counter crashes (b: all
 * values that may be pointers become invalid; z: everything becomes 0); or dies by the signal HOW.
 * With another argument a child does so, and its parent ends normally. Natively there is nothing to
 * break, and it ends at once.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "maps_with_engine.h"

static void break_it(bool pointers)
{
	static char line[4096];
	unsigned long from, to;
	FILE *f = maps_with_engine();

	while (f && fgets(line, sizeof line, f))
		if (strstr(line, "rw-p") && strstr(line, "tare-exact") &&
		    sscanf(line, "%lx-%lx", &from, &to) == 2)
			for (volatile unsigned long *at = (unsigned long *)from;
			     at < (unsigned long *)to; at++)
				if (!pointers || *at >> 32)
					*at = pointers ? 0x4141414141414141 : 0;
}

int main(int argc, char **argv)
{
	int status, how = argc > 1 ? atoi(argv[1]) : 0;

	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
	if (argc > 2 && fork())
		return wait(&status) < 0;
	if (how)
		kill(getpid(), how);
	else
		break_it(argc > 1 && argv[1][0] == 'b');
	return 0;
}
