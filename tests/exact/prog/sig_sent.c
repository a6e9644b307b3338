/* SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGTRAP that somebody sends, blocked: they wait, one of each kind, and are found wherever
 * a program looks for them. The same for those sent to one thread. SIGTRAP only with an argument: it is what the judge steps by. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

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

	sigpending(&waits);
	printf("%s:", what);
	for (int i = 0; i < n_kinds; i++)
		printf(" %d%s", seen[kinds[i]], sigismember(&waits, kinds[i]) ? "+" : "");
	printf("\n");
}

int main(int argc, char **argv)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, act = { .sa_sigaction = on, .sa_flags = SA_SIGINFO };
	struct timespec now = { 0, 0 }, soon = { 0, 1000000 };
	struct signalfd_siginfo got;
	sigset_t all, none, most;
	siginfo_t info;
	int fd;

	if (argc > 1)
		n_kinds = 5;
	if (argc > 2) { /* what waits outlives an exec */
		show(argv[2]);
		return 0;
	}
	setbuf(stdout, NULL);
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
	printf("sigsuspend %d", sigsuspend(&most));
	printf(" %d\n", errno);
	show("suspended");
	kill(getpid(), kinds[n_kinds - 1]);
	kill(getpid(), kinds[n_kinds - 1]);
	sigdelset(&most, kinds[n_kinds - 1]);
	printf("ppoll %d", ppoll(NULL, 0, NULL, &most));
	printf(" %d\n", errno);
	show("polled");

	send_all();
	for (int i = 0; i < 2; i++)
		printf("sigwaitinfo %d %d\n", sigtimedwait(&all, &info, &now), info.si_code == SI_TKILL || info.si_code == SI_USER);
	show("waited");
	fd = signalfd(-1, &all, SFD_NONBLOCK);
	while (read(fd, &got, sizeof got) == sizeof got)
		printf("signalfd %d\n", (int)got.ssi_signo);
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
	printf("code %d\n", (int)code);
	sigprocmask(SIG_SETMASK, &all, NULL);
	kill(getpid(), SIGBUS);
	kill(getpid(), kinds[n_kinds - 1]);
	execl("/proc/self/exe", argv[0], "all", "executed", (char *)NULL);
	return 1;
}
