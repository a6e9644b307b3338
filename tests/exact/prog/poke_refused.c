/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static refuse=wrote.into.its.code
 * A parent writes another function over one of its child's, as a debugger sets a breakpoint: the
 * child's counts would be those of the old code.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include "code_page.h"

__attribute__((noinline)) static int value(void)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop");
	return 1;
}

int main(void)
{
	long code = 0;
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(value());
	}
	waitpid(pid, NULL, 0);
	make(&code, 7);
	ptrace(PTRACE_POKETEXT, pid, value, code);
	ptrace(PTRACE_CONT, pid, 0, 0);
	waitpid(pid, NULL, 0);
	return 0;
}
