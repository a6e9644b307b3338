/* Signals a program sends itself: raise, sigqueue, masks, pending ones, order of delivery. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile int order[16], n;

static void on(int sig, siginfo_t *si, void *uc)
{
	(void)uc;
	order[n++] = sig * 1000 + si->si_value.sival_int;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on, .sa_flags = SA_SIGINFO };
	sigset_t all, old, pending;

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	sigaction(SIGRTMIN, &sa, NULL);
	sigaction(SIGRTMIN + 1, &sa, NULL);
	raise(SIGUSR1);
	sigqueue(getpid(), SIGUSR2, (union sigval){ .sival_int = 5 });
	sigemptyset(&all);
	sigaddset(&all, SIGUSR1);
	sigaddset(&all, SIGRTMIN);
	sigaddset(&all, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &all, &old);
	for (int i = 0; i < 3; i++)
		sigqueue(getpid(), SIGRTMIN + 1, (union sigval){ .sival_int = i });
	sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = 9 });
	raise(SIGUSR1);
	raise(SIGUSR1);
	sigpending(&pending);
	printf("pending %d\n", sigismember(&pending, SIGRTMIN));
	sigprocmask(SIG_SETMASK, &old, NULL);
	for (int i = 0; i < n; i++)
		printf("%d\n", order[i]);
	signal(SIGUSR1, SIG_IGN);
	raise(SIGUSR1);
	return n;
}
