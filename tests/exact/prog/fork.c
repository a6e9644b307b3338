/* fork, each child with another amount of work and its own exit status. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	volatile unsigned sum = 0;

	for (int i = 0; i < 6; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			for (int k = 0; k < 100 * i; k++)
				sum += k;
			_exit(i * 7);
		}
		waitpid(pid, &status, 0);
		printf("%d %d\n", i, WEXITSTATUS(status));
	}
	return 0;
}
