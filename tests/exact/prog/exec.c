/* exec: one that fails, then itself with fewer turns to go, then another program. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int left = argc > 1 ? atoi(argv[1]) : 2;
	char next[16];

	execl("/etc/passwd", "x", NULL);
	printf("%d: errno %d\n", left, errno);
	fflush(stdout);
	snprintf(next, sizeof(next), "%d", left - 1);
	if (left)
		execl("/proc/self/exe", argv[0], next, NULL);
	else
		execl("/bin/echo", "echo", "end", NULL);
	return 9;
}
