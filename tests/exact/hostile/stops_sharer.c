/* SPDX-License-Identifier: MIT */
/*
 * A process that shares another one's memory stops it again and again, as LeakSanitizer does at the
 * end (it passes other signals on, too), while both write code and execute it.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 200, CALLS = 30, STACK = 65536 };

static volatile int done;
static pid_t parent;

static int by_code(unsigned char *code, int value)
{
	code[0] = 0xb8; /* mov eax, value; ret */
	memcpy(code + 1, &value, sizeof value);
	code[5] = 0xc3;
	return ((int (*)(void))code)();
}

/* A tracer sees the engine's faults, too: such a signal is passed on until the stop comes. */
static int stopped(void)
{
	int status;

	for (;;) {
		if (waitpid(parent, &status, __WALL) != parent || !WIFSTOPPED(status))
			return 0;
		if (WSTOPSIG(status) == SIGSTOP)
			return 1;
		ptrace(PTRACE_CONT, parent, 0, WSTOPSIG(status));
	}
}

static int stop_it(void *code)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (ptrace(PTRACE_ATTACH, parent, 0, 0) < 0 || !stopped())
			_exit(1);
		for (int k = 0; k < CALLS; k++)
			if (by_code(code, k) != k)
				_exit(2);
		ptrace(PTRACE_DETACH, parent, 0, 0);
	}
	done = 1;
	_exit(0);
}

int main(void)
{
	unsigned char *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *stack = malloc(STACK);
	int status, value = 0;
	pid_t child;

	parent = getpid();
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	child = clone(stop_it, stack + STACK,
		      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED | SIGCHLD, code + 4096);
	while (!done && waitpid(child, &status, WNOHANG | __WALL) == 0) {
		if (by_code(code, value) != value)
			return 3;
		value = (value + 1) & 0xffff;
	}
	if (done)
		waitpid(child, &status, __WALL);
	printf("it ended with %d\n", status);
	return 0;
}
