/* SPDX-License-Identifier: MIT */
/* This process's mappings with those of the engine, which its own /proc/self/maps does not show: another process reads them. */
#include <stdio.h>
#include <unistd.h>

static inline FILE *maps_with_engine(void)
{
	char command[64];
	FILE *of, *copy = tmpfile();

	snprintf(command, sizeof command, "cat /proc/%d/maps", (int)getpid());
	of = popen(command, "r");
	for (int c; of && copy && (c = getc(of)) != EOF;)
		putc(c, copy);
	if (of)
		pclose(of); /* it is gone before anything is done to the engine */
	if (copy)
		rewind(copy);
	return copy;
}
