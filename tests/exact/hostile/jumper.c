/* SPDX-License-Identifier: MIT */
/* Jumps to the start of each executable mapping that is not its own, in a child for each. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "maps_with_engine.h"

int main(void)
{
	char line[256];
	FILE *f = maps_with_engine();
	int tried = 0;

	while (fgets(line, sizeof(line), f)) {
		unsigned long from, to;
		char how[8];
		int status;

		if (sscanf(line, "%lx-%lx %7s", &from, &to, how) != 3 || how[2] != 'x' ||
		    strchr(line, '/') || strchr(line, '['))
			continue;
		for (unsigned at = 0; at < 256; at += 64) {
			pid_t pid = fork();

			if (pid == 0) {
				alarm(5);
				((void (*)(void))(from + at))();
				_exit(0);
			}
			waitpid(pid, &status, 0);
			tried++;
		}
	}
	printf("%s\n", tried ? "tried" : "nothing there");
	return 0;
}
