/* A process, its child, its grandchild; the middle one ends by a signal. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int status;

	if (fork() == 0) {
		if (fork() == 0)
			_exit(3);
		wait(&status);
		kill(getpid(), status == 3 << 8 ? SIGTERM : SIGKILL);
	}
	wait(&status);
	printf("%d\n", WTERMSIG(status));
	return 0;
}
