/* Signals taken without a handler: sigwaitinfo, sigtimedwait, signalfd, sigsuspend; SIGCHLD,
 * SIGPIPE. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int seen;

static void on(int sig)
{
	seen = sig;
}

int main(void)
{
	struct signalfd_siginfo info;
	struct timespec now = { 0, 0 };
	sigset_t set, none;
	siginfo_t si;
	int ends[2], status;
	ssize_t ret;

	sigemptyset(&none);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	printf("%d\n", sigwaitinfo(&set, &si));
	printf("%d\n", sigtimedwait(&set, &si, &now));
	int fd = signalfd(-1, &set, 0);
	raise(SIGUSR1);
	ret = read(fd, &info, sizeof(info));
	printf("%zd %u\n", ret, info.ssi_signo);
	signal(SIGUSR1, on);
	raise(SIGUSR1);
	sigsuspend(&none);
	printf("%d\n", seen);
	signal(SIGCHLD, on);
	if (fork() == 0)
		_exit(4);
	sigsuspend(&none);
	waitpid(-1, &status, 0);
	printf("%d %d\n", seen == SIGCHLD, WEXITSTATUS(status));
	signal(SIGPIPE, on);
	if (pipe(ends) < 0)
		return 1;
	close(ends[0]);
	ret = write(ends[1], "x", 1);
	printf("%zd %d\n", ret, errno == EPIPE && seen == SIGPIPE);
	return 0;
}
