/* SPDX-License-Identifier: MIT */
/*
 * Handlers that spoil what they return to: vector state at no address, beside itself, of nonsense;
 * code and stack segments that are none. Natively each is a SIGSEGV, which kills, or comes to a
 * handler. exact: build=static
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/ucontext.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ADDRESS, BESIDE, NONSENSE, NULL_CODE, DATA_CODE, NULL_STACK, KINDS };

static volatile int kind, count;
static char stack[65536];

static void spoil(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	greg_t *segments = &u->uc_mcontext.gregs[REG_CSGSFS];

	(void)sig, (void)info;
	switch (kind) {
	case ADDRESS:
		u->uc_mcontext.fpregs = (void *)8;
		return;
	case BESIDE:
		u->uc_mcontext.fpregs = (void *)((char *)u->uc_mcontext.fpregs + 1);
		return;
	case NONSENSE:
		memset(u->uc_mcontext.fpregs, 0xff, 512);
		return;
	case NULL_CODE:
		*segments &= ~0xffffll;
		return;
	case DATA_CODE:
		*segments = (*segments & ~0xffffll) | 0x2b;
		return;
	default:
		*segments &= 0xffffffffffffll;
	}
}

/* The handler of the second signal: where the first one was to go. */
static void told(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	printf("kind %d: signal %d, code %d, still %d, r15 %lld\n", kind, sig, info->si_code, count,
	       u->uc_mcontext.gregs[REG_R15]);
	fflush(stdout);
	_exit(3);
}

static void run(int handled)
{
	struct sigaction a = { .sa_sigaction = spoil, .sa_flags = SA_SIGINFO };
	int status;
	pid_t child = fork();

	if (!child) {
		sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = sizeof stack }, NULL);
		sigaction(SIGUSR1, &a, NULL);
		a.sa_sigaction = told;
		a.sa_flags |= SA_ONSTACK;
		if (handled)
			sigaction(SIGSEGV, &a, NULL);
		count = 7;
		__asm__ volatile("mov $77, %%r15d; syscall"
				 : "=a"(status)
				 : "a"(62), "D"(getpid()), "S"(SIGUSR1)
				 : "rcx", "r11", "r15", "memory");
		puts("goes on");
		exit(0);
	}
	waitpid(child, &status, 0);
	printf("%d, handled %d: exit %d, signal %d\n", kind, handled, WEXITSTATUS(status),
	       WTERMSIG(status));
	fflush(stdout);
}

int main(void)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
	for (kind = 0; kind < KINDS; kind++)
		for (int handled = 0; handled < 2; handled++)
			run(handled);
	return 0;
}
