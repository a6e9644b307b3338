/*
 * clone3 with CLONE_CLEAR_SIGHAND: the child begins without handlers, ignores what was ignored, and
 * dies as it should.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ull
#endif

static void on(int sig)
{
	(void)sig;
	_exit(77);
}

static volatile int *nowhere;
static uint8_t *code;

static void ask(void)
{
	static const int which[] = { SIGUSR1, SIGSEGV, SIGABRT, SIGTRAP, SIGQUIT, SIGUSR2, SIGFPE };
	struct sigaction sa;

	for (size_t i = 0; i < sizeof(which) / sizeof(*which); i++) {
		sigaction(which[i], NULL, &sa);
		printf("%d: %s\n", which[i],
		       sa.sa_handler == SIG_DFL           ? "default"
			       : sa.sa_handler == SIG_IGN ? "ignored"
							  : "handler");
	}
	fflush(stdout);
}

static void child(int sig)
{
	struct clone_args args = { .flags = CLONE_CLEAR_SIGHAND, .exit_signal = SIGCHLD };
	long pid = syscall(SYS_clone3, &args, sizeof(args));
	int status = 0;

	if (pid == 0) {
		if (sig == SIGUSR1)
			ask();
		/* code that is written while it runs: our own handler is needed for it */
		code[0] = 0xc3;
		((void (*)(void))(uintptr_t)code)();
		code[0] = 0x90, code[1] = 0xc3;
		((void (*)(void))(uintptr_t)code)();
		if (sig == SIGSEGV)
			*nowhere = 1;
		raise(sig);
		_exit(5);
	}
	wait(&status);
	printf("%d: %#x\n", sig, status & 0xff7f);
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on, .sa_flags = SA_RESTART };

	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGABRT, &sa, NULL);
	sigaction(SIGTRAP, &sa, NULL);
	signal(SIGUSR2, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGFPE, SIG_IGN);
	ask();
	child(SIGUSR1);
	child(SIGSEGV);
	child(SIGABRT);
	child(SIGUSR2);
	child(SIGQUIT);
	return 0;
}
