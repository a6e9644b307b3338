/*
 * SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGTRAP that somebody sends, blocked: they wait, one of each
 * kind, and are found wherever
 * a program looks for them. The same for those sent to one thread. SIGTRAP only with an argument:
 * it is what the judge steps by.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "say.h"

static const int kinds[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
static int n_kinds = 4;
static volatile int seen[65], order[64], n_seen;
static volatile sig_atomic_t code;

static void on(int sig, siginfo_t *info, void *context)
{
	(void)context;
	seen[sig]++;
	code = info->si_code;
	if (n_seen < 64)
		order[n_seen++] = sig;
}

static void send_all(void)
{
	for (int i = 0; i < n_kinds; i++) {
		kill(getpid(), kinds[i]);
		syscall(SYS_tgkill, getpid(), gettid(), kinds[i]);
	}
}

static void show(const char *what)
{
	sigset_t waits;
	long numbers[10]; /* seen, by kind; waits */

	sigpending(&waits);
	for (int i = 0; i < n_kinds; i++)
		numbers[i] = seen[kinds[i]], numbers[n_kinds + i] = sigismember(&waits, kinds[i]);
	say_line(what, numbers, 2 * n_kinds);
}

int main(int argc, char **argv)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN },
			 act = { .sa_sigaction = on, .sa_flags = SA_SIGINFO };
	struct timespec now = { 0, 0 }, soon = { 0, 1000000 };
	struct signalfd_siginfo got;
	sigset_t all, none, most;
	siginfo_t info;
	int fd;
	long ret;

	if (argc > 1)
		n_kinds = 5;
	if (argc > 2) { /* what waits outlives an exec */
		show(argv[2]);
		return 0;
	}
	for (int i = 0; i < n_kinds; i++)
		sigaction(kinds[i], &act, NULL);
	sigfillset(&all);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &all, NULL);

	send_all();
	show("blocked");
	nanosleep(&soon, NULL);
	syscall(SYS_getppid);
	show("still");
	sigprocmask(SIG_SETMASK, &none, NULL);
	show("unblocked");

	sigprocmask(SIG_SETMASK, &all, NULL);
	kill(getpid(), SIGFPE);
	kill(getpid(), SIGUSR1);
	most = all;
	sigdelset(&most, SIGFPE);
	ret = sigsuspend(&most);
	SAY_LINE("sigsuspend", ret, errno);
	show("suspended");
	kill(getpid(), kinds[n_kinds - 1]);
	kill(getpid(), kinds[n_kinds - 1]);
	sigdelset(&most, kinds[n_kinds - 1]);
	ret = ppoll(NULL, 0, NULL, &most);
	SAY_LINE("ppoll", ret, errno);
	show("polled");

	send_all();
	for (int i = 0; i < 2; i++) {
		ret = sigtimedwait(&all, &info, &now);
		SAY_LINE("sigwaitinfo", ret, info.si_code == SI_TKILL || info.si_code == SI_USER);
	}
	show("waited");
	fd = signalfd(-1, &all, SFD_NONBLOCK);
	while (read(fd, &got, sizeof got) == sizeof got)
		SAY_LINE("signalfd", got.ssi_signo);
	show("read");

	send_all();
	sigaction(SIGILL, &ignore, NULL); /* forgets what waits */
	show("ignored");
	sigprocmask(SIG_SETMASK, &none, NULL);
	kill(getpid(), SIGILL);
	show("all");

	for (int i = 0; i < 20 * n_kinds; i++) /* in and out of the engine */
		kill(getpid(), kinds[i % n_kinds]);
	show("many");
	SAY_LINE("code", code);
	sigprocmask(SIG_SETMASK, &all, NULL);
	kill(getpid(), SIGBUS);
	kill(getpid(), kinds[n_kinds - 1]);
	execl("/proc/self/exe", argv[0], "all", "executed", (char *)NULL);
	return 1;
}
