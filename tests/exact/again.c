/* SPDX-License-Identifier: MIT */
/*
 * again N PROGRAM [ARG...]: runs the program N times, one after the other; exits with the last
 * status.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* The wait status of the program. */
static int run(char **argv)
{
	int status = 125 << 8;
	pid_t child = vfork();

	if (child == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	if (child > 0)
		waitpid(child, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0, status = 125 << 8;

	for (int i = 0; i < n; i++)
		status = run(argv + 2);
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
	signal(WTERMSIG(status), SIG_DFL);
	kill(getpid(), WTERMSIG(status));
	return 125;
}
