/* vfork: the child runs in its parent's memory, ends, or becomes another program. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	volatile int shared = 0;
	int status;
	pid_t pid;

	if (argc > 1)
		return 6;
	pid = vfork();
	if (pid == 0) {
		shared = 42;
		_exit(5);
	}
	waitpid(pid, &status, 0);
	printf("%d %d\n", shared, WEXITSTATUS(status));
	fflush(stdout);
	pid = vfork();
	if (pid == 0) {
		execl("/nonexistent", "x", NULL);
		execl("/proc/self/exe", argv[0], "again", NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	printf("%d\n", WEXITSTATUS(status));
	return 0;
}
