/*
 * Receives a flood of fault signals while it executes code that causes such faults itself, and
 * reports whether it completed. "blocked": all are blocked, and each one is pending until the end;
 * "handled": handlers count them; "threads": the same, in two threads; "waited": one thread waits
 * for them.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const int kinds[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
enum { KINDS = sizeof kinds / sizeof *kinds, ROUNDS = 1000 };
static volatile unsigned sent[65], own;

static void on(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code <= 0)
		__atomic_fetch_add(&sent[sig], 1, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&own, 1, __ATOMIC_RELAXED);
}

static unsigned fed(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		/* code that is written: the engine's own faults */
		for (unsigned k = 0; k < 5; k++) {
			memcpy(page, (unsigned char[]){ 0xb8, (unsigned char)k, 0, 0, 0, 0xc3 }, 6);
			sum += ((unsigned (*)(void))page)();
		}
		munmap(page, 4096);
		/* single-stepped by the engine */
		__asm__ volatile("mov %%gs, %0" : "=r"(sum) : "0"(sum));
		sum = i;
	}
	return sum;
}

static void *in_thread(void *arg)
{
	(void)arg;
	fed(ROUNDS);
	return NULL;
}

static void *waiter(void *set)
{
	int sig;

	for (int n = 0; n < KINDS; n++) {
		sigwait(set, &sig);
		sent[sig]++;
	}
	return NULL;
}

static void in_turn(sigset_t *set)
{
	pthread_t t;

	sigprocmask(SIG_BLOCK, set, NULL);
	pthread_create(&t, NULL, waiter, set);
	for (int i = 0; i < KINDS; i++) {
		kill(getpid(), kinds[i]);
		while (!sent[kinds[i]])
			usleep(1000);
	}
	pthread_join(t, NULL);
	printf("all came\n");
}

/* Has each of them been handled, or is it blocked? */
static int all_came(void)
{
	sigset_t set;

	sigpending(&set);
	for (int i = 0; i < KINDS; i++)
		if (!sent[kinds[i]] && !sigismember(&set, kinds[i]))
			return 0;
	return 1;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	struct sigaction act = { .sa_sigaction = on, .sa_flags = SA_SIGINFO };
	pthread_t t;
	sigset_t set;
	pid_t flood;

	sigemptyset(&set);
	for (int i = 0; i < KINDS; i++) {
		sigaction(kinds[i], &act, NULL);
		sigaddset(&set, kinds[i]);
	}
	if (!strcmp(how, "waited")) {
		in_turn(&set);
		return 0;
	}
	if (!strcmp(how, "blocked"))
		sigprocmask(SIG_BLOCK, &set, NULL);
	flood = fork();
	if (!flood)
		for (int n = 0;; n++) {
			for (int i = 0; i < KINDS; i++)
				if (kill(getppid(), kinds[i]) || getppid() == 1)
					_exit(0);
			/* a sleep that each signal restarts completes during the pauses */
			if (n % 100 == 99)
				usleep(15000);
		}
	usleep(5000);
	if (!strcmp(how, "threads"))
		pthread_create(&t, NULL, in_thread, NULL);
	fed(ROUNDS);
	/* on a busy machine the other process comes late */
	for (int i = 0; i < 20 || (i < 20000 && strcmp(how, "threads") && !all_came()); i++)
		usleep(5000);
	if (!strcmp(how, "threads"))
		pthread_join(t, NULL);
	kill(flood, SIGKILL);
	waitpid(flood, NULL, 0);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	for (int i = 0; i < KINDS; i++)
		printf("%s", sent[kinds[i]] == 1 ? "once " : sent[kinds[i]] ? "often " : "never ");
	printf("%u\n", own);
	return 0;
}
